//! Names that a body gives to what it uses: `use rand::random as fresh;`, `type Id = ulid::Ulid;`.
//!
//! Those of the module around it are not seen.

use std::collections::HashMap;

use syn::UseTree;
use syn::ext::IdentExt;

use crate::known::Mention;

/// The path that a name stands for.
#[derive(Default)]
pub(super) struct Renamed {
    paths: HashMap<String, Vec<String>>,
}

impl Renamed {
    pub(super) fn import(&mut self, tree: &UseTree) {
        self.walk(tree, &mut Vec::new());
    }

    pub(super) fn alias(&mut self, alias: &syn::ItemType) {
        if let syn::Type::Path(ty) = &*alias.ty {
            let path = Mention::of_path(&ty.path).segments;
            self.paths.insert(alias.ident.unraw().to_string(), path);
        }
    }

    fn walk(&mut self, tree: &UseTree, before: &mut Vec<String>) {
        match tree {
            UseTree::Path(path) => {
                before.push(path.ident.unraw().to_string());
                self.walk(&path.tree, before);
                before.pop();
            }
            UseTree::Rename(renamed) => {
                let path = before.iter().cloned().chain([renamed.ident.unraw().to_string()]).collect();
                self.paths.insert(renamed.rename.unraw().to_string(), path);
            }
            UseTree::Group(group) => group.items.iter().for_each(|item| self.walk(item, before)),
            UseTree::Name(_) | UseTree::Glob(_) => {}
        }
    }

    /// A path by the names that the table knows.
    pub(super) fn mention(&self, path: &syn::Path) -> Mention {
        let mut mention = Mention::of_path(path);
        if let Some(meant) = mention.segments.first().and_then(|first| self.paths.get(first)) {
            mention.segments.splice(..1, meant.iter().cloned());
        }
        mention
    }
}
