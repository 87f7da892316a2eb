/// The declaration of a field of an access log: its type, its rules and its meaning.
///
/// It has no default values, so that a field without a rule does not compile.
struct AccessLogFieldDefinition {
    /// The property of an event, a `WritableKeyPath` with the type of the field.
    let property: PartialKeyPath<AccessLog.Event>
    /// The unit of the text form; empty if there is none.
    let unit: String
    /// The meaning of the field, for the documentation.
    let meaning: String
    /// Returns the text of the field; `-` for an unknown or negative value.
    let text: (AccessLog.Event) -> String
    /// Parses the text of the field into an event, and returns whether it is valid.
    let store: (String, inout AccessLog.Event) -> Bool
    /// Sets the value that the field has when a period begins: zero if its total is a sum.
    let begin: (inout AccessLog.Event) -> Void
    /// Sets the value of an event that merges others.
    let merge: ([AccessLog.Event], inout AccessLog.Event) -> Void
    /// Sets the totals of the field.
    let addTotal: ([AccessLog.Event], inout AccessLog.Totals) -> Void

    /// Creates the definition of a field.
    ///
    /// - Parameters:
    ///   - property: The property of an event; its type determines the text form and the unit.
    ///   - merging: The rule by which the values of several events become one.
    ///   - total: The rule by which the values of all events become a total.
    ///   - meaning: The meaning of the field, for the documentation.
    init<Value: AccessLogValue>(
        _ property: WritableKeyPath<AccessLog.Event, Value?>,
        merging: MergingRule<Value>,
        total: TotalRule<Value>,
        _ meaning: String
    ) {
        self.property = property
        unit = Value.logUnit
        self.meaning = meaning
        text = { event in event[keyPath: property].flatMap { $0.logText } ?? ExtendedLogText.unknown }
        store = { text, event in
            switch Value.parseLogText(text) {
            case .value(let value): event[keyPath: property] = value
            case .unknown: break
            case .invalid: return false
            }
            return true
        }
        begin = { event in
            guard let value = total.initialValue else { return }
            event[keyPath: property] = value
        }
        merge = { events, merged in merged[keyPath: property] = merging.merge(events, property) }
        addTotal = { events, totals in total.add(events, property, &totals) }
    }
}
