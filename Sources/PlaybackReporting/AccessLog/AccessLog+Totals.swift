extension AccessLog {
    /// The sums over all events.
    ///
    /// - Complexity: O(*n*) in the number of events.
    public var totals: Totals {
        var totals = Totals()
        for field in AccessLogField.allCases { field.definition.addTotal(events, &totals) }
        return totals
    }
}
