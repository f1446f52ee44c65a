-- The audio storage of this database: one row. The storage itself holds the id too, so that a node with another storage,
-- or with a disk that is not mounted, is told apart.
create table audio_storage (
  is_only boolean primary key default true check (is_only),
  id text not null,
  -- The cluster and the database in which the row was made: in a restored copy it says nothing about the storage there.
  made_in text not null
);
