insert into idem_record select *, null from idem_record_1;

insert into idem_key select substr(k, 1, 8), id from idem_record order by k;

update idem_index set upto = (select coalesce(max(id), 0) from idem_record);

drop table idem_record_1;
