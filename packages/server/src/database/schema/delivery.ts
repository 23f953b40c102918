export interface DeliveryTables {}
