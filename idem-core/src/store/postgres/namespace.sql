select to_regnamespace($1) is not null
