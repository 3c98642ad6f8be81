// The recipients of alerts, and the alert for the store alone.

@description('Name of the action group.')
param actionGroupName string
@description('Address that gets the alerts; empty: alerts are only shown.')
param email string
@description('Tags.')
param tags object
@description('The store.')
param cosmosAccountId string

var actionGroupIds = empty(email) ? [] : [people.id]

resource people 'Microsoft.Insights/actionGroups@2023-01-01' = if (!empty(email)) {
  name: actionGroupName
  location: 'global'
  tags: tags
  properties: {
    enabled: true
    groupShortName: 'memory'
    emailReceivers: [{ name: 'email', emailAddress: email, useCommonAlertSchema: true }]
  }
}

// The SDK waits and tries again on its own, so a few refusals are normal; this many mean that work is held up.
resource throttling 'Microsoft.Insights/metricAlerts@2018-03-01' = {
  name: 'memory-store-throttled'
  location: 'global'
  tags: tags
  properties: {
    description: 'The store refuses many requests (429): raise the throughput, or slow the writers down.'
    severity: 2
    enabled: true
    scopes: [cosmosAccountId]
    evaluationFrequency: 'PT5M'
    windowSize: 'PT15M'
    criteria: {
      'odata.type': 'Microsoft.Azure.Monitor.SingleResourceMultipleMetricCriteria'
      allOf: [
        {
          criterionType: 'StaticThresholdCriterion'
          name: 'throttled'
          metricNamespace: 'Microsoft.DocumentDB/databaseAccounts'
          metricName: 'TotalRequests'
          dimensions: [{ name: 'StatusCode', operator: 'Include', values: ['429'] }]
          timeAggregation: 'Count'
          operator: 'GreaterThan'
          threshold: 100
        }
      ]
    }
    actions: [for id in actionGroupIds: { actionGroupId: id }]
  }
}

output actionGroupIds array = actionGroupIds
