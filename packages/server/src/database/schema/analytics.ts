export interface AnalyticsTables {}
