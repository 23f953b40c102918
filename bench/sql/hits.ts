/** Rows like those of ClickBench: its columns as far as its queries name them, with as many different values as there, in proportion. */
export function hitsOf(rows: number): string {
  const users = Math.ceil(rows / 6)
  const phrases = Math.ceil(rows / 17)
  const pages = Math.ceil(rows / 5)
  return `select
    toInt64(intHash64(number)) as WatchID, toInt16(r1 % 2) as JavaEnable,
    if(r2 % 3 = 0, '', concat('Title of the page ', toString(r2 % ${pages}))) as Title, toInt16(1) as GoodEvent,
    toDateTime('2013-07-01 00:00:00', 'UTC') + toUInt32(number * 2592000 / ${rows}) as EventTime, toDate(EventTime) as EventDate,
    toInt32(if(r3 % 100 < 12, 62, r3 % 6000)) as CounterID, toInt32(r4 % ${users}) as ClientIP, toInt32(r5 % 9000) as RegionID,
    toInt64(intHash64(r4 % ${users})) as UserID,
    concat('http://', ['google.com', 'example.org', 'example.net', 'example.com'][1 + r6 % 4], '/page/', toString(r6 % ${pages})) as URL,
    if(r7 % 4 = 0, '', concat('https://www.ref', toString(r7 % 50000), '.com/path')) as Referer,
    toInt16(r1 % 16 = 0) as IsRefresh, toInt16(1000 + r2 % 900) as ResolutionWidth, toInt16(if(r3 % 20 = 0, r5 % 20, 0)) as AdvEngineID,
    if(r5 % 18 = 0, concat('phone ', toString(r7 % 160)), '') as MobilePhoneModel, toInt16(r7 % 70) as MobilePhone,
    if(r6 % 8 > 0, '', concat('search phrase ', toString(r7 % ${phrases}))) as SearchPhrase, toInt16(if(r6 % 8 > 0, 0, r1 % 90)) as SearchEngineID,
    toInt16(r4 % 10) as TraficSourceID, toInt16(r2 % 50 = 0) as IsLink, toInt16(r1 % 90 = 0) as IsDownload, toInt16(0) as DontCountHits,
    toInt64(intHash64(r6 % ${pages})) as URLHash, toInt64(intHash64(r7 % 50000)) as RefererHash, toInt16(r2 % 1900) as WindowClientWidth,
    toInt16(r3 % 1100) as WindowClientHeight
    from (select number, intHash32(number) as r1, intHash32(number + 1000000000) as r2, intHash32(number + 2000000000) as r3, intHash32(number + 3000000000) as r4,
      intHash32(number + 4000000000) as r5, intHash32(number + 5000000000) as r6, intHash32(number + 6000000000) as r7 from numbers(${rows}))`
}
