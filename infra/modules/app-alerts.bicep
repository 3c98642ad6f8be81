// Alerts on what the function app reports of itself: metrics of the library's telemetry.py, and messages of its log.

@description('Region.')
param location string
@description('Tags.')
param tags object
@description('Where the app\'s telemetry is.')
param applicationInsightsId string
@description('Recipients of the alerts.')
param actionGroupIds array

// A query sees its window alone, and makes one figure of it: bins would cut the window in two, and the figure with it.
var rules = [
  {
    name: 'memory-dead-letters'
    description: 'A step gave up on some turns. memory.dead_letters() lists them; replay them when the cause is gone.'
    severity: 2
    query: 'customMetrics | where name == "dead_letters" | summarize value = sum(valueSum)'
    threshold: 0
  }
  {
    name: 'memory-change-feed-fails'
    description: 'The change-feed trigger keeps failing, so new turns are not processed.'
    severity: 1
    query: 'customMetrics | where name == "change_feed_failures" | summarize value = sum(valueSum)'
    threshold: 5
  }
  {
    name: 'memory-change-feed-lags'
    description: 'Turns waited for more than five minutes before they were counted.'
    severity: 2
    query: 'customMetrics | where name == "change_feed_lag" | summarize value = max(valueMax)'
    threshold: 300
  }
  {
    name: 'memory-change-feed-behind'
    description: 'Maintenance, which looks every hour, found turns that the change-feed trigger had not counted after five minutes.'
    severity: 2
    query: 'traces | where message has "were not counted by the change feed" | summarize value = count()'
    threshold: 0
  }
  {
    name: 'memory-recall-lags'
    description: 'What was said could not be found in the index for more than ten minutes.'
    severity: 3
    query: 'customMetrics | where name == "write_to_recall" | summarize value = max(valueMax)'
    threshold: 600
  }
  {
    name: 'memory-model-paused'
    description: 'A model keeps failing and was left alone again and again. Its turns wait; memory.health() says why.'
    severity: 2
    query: 'customMetrics | where name == "model_pauses" | summarize value = sum(valueSum)'
    threshold: 3
  }
  {
    name: 'memory-app-silent'
    description: 'Maintenance, which runs every hour, has not run for two hours: the app does not start, or its telemetry does not arrive.'
    severity: 1
    query: 'traces | where message has "maintenance has started its sweeps" | summarize value = count()'
    threshold: 1
    operator: 'LessThan'
    every: 'PT1H'
    window: 'PT2H'
  }
]
var usual = { operator: 'GreaterThan', every: 'PT15M', window: 'PT15M' }

resource alerts 'Microsoft.Insights/scheduledQueryRules@2023-12-01' = [for rule in map(rules, one => union(usual, one)): {
  name: rule.name
  location: location
  tags: tags
  properties: {
    displayName: rule.name
    description: rule.description
    severity: rule.severity
    enabled: true
    scopes: [applicationInsightsId]
    evaluationFrequency: rule.every
    windowSize: rule.window
    criteria: {
      allOf: [
        {
          query: rule.query
          metricMeasureColumn: 'value'
          timeAggregation: 'Maximum'
          operator: rule.operator
          threshold: rule.threshold
          failingPeriods: { numberOfEvaluationPeriods: 1, minFailingPeriodsToAlert: 1 }
        }
      ]
    }
    autoMitigate: true
    // A table that nothing was written to yet does not exist; that is no fault of the rule.
    skipQueryValidation: true
    actions: { actionGroups: actionGroupIds }
  }
}]
