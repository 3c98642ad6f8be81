// A monthly budget of the resource group. It only sends messages; it does not stop anything.

@description('Name of the budget.')
param name string
@description('Amount, in the currency of the bill.')
param amount int
@description('First day of the month in which it began, as yyyy-MM-dd.')
param startDate string
@description('Recipients; empty: the owners.')
param email string

var contacts = {
  contactEmails: empty(email) ? [] : [email]
  contactRoles: ['Owner']
}

resource budget 'Microsoft.Consumption/budgets@2023-11-01' = {
  name: name
  properties: {
    category: 'Cost'
    amount: amount
    timeGrain: 'Monthly'
    timePeriod: { startDate: '${startDate}T00:00:00Z' }
    notifications: {
      spent80: union(contacts, { enabled: true, operator: 'GreaterThanOrEqualTo', threshold: 80, thresholdType: 'Actual' })
      spent100: union(contacts, { enabled: true, operator: 'GreaterThanOrEqualTo', threshold: 100, thresholdType: 'Actual' })
      foreseen100: union(contacts, { enabled: true, operator: 'GreaterThanOrEqualTo', threshold: 100, thresholdType: 'Forecasted' })
    }
  }
}
