import MediaTiming

/// The rule by which the values of a field in all events of an access log become a total.
struct TotalRule<Value> {
    /// The value of the field when a period begins; `nil` if it is unknown until it is recorded.
    let initialValue: Value?
    /// Sets the total, which is zero or `nil` before.
    let add:
        (
            _ events: [AccessLog.Event], _ property: KeyPath<AccessLog.Event, Value?>,
            _ totals: inout AccessLog.Totals
        ) -> Void

    /// The field has no total.
    static var none: Self { Self(initialValue: nil) { _, _, _ in } }
}

extension TotalRule where Value: SummableLogValue {
    /// The sum of the positive values; zero if there are none.
    ///
    /// - Parameters:
    ///   - total: The property with the total.
    ///   - startsAtZero: Whether the value is zero when a period begins; otherwise it is unknown until it is recorded.
    /// - Returns: The rule.
    static func sum(
        _ total: WritableKeyPath<AccessLog.Totals, Value>,
        startsAtZero: Bool = true
    ) -> Self {
        Self(initialValue: startsAtZero ? Value.zero : nil) { events, property, totals in
            for event in events {
                guard let value = event[keyPath: property] else { continue }
                totals[keyPath: total] = totals[keyPath: total].addingClamped(max(.zero, value))
            }
        }
    }

    /// The sum of the positive values; `nil` if no value is known.
    static func sumOfKnown(_ total: WritableKeyPath<AccessLog.Totals, Value?>) -> Self {
        Self(initialValue: nil) { events, property, totals in
            for event in events {
                guard let value = event[keyPath: property] else { continue }
                totals[keyPath: total] = (totals[keyPath: total] ?? .zero).addingClamped(max(.zero, value))
            }
        }
    }
}

extension TotalRule where Value == BitRate {
    /// Two averages weighted by the time played: over the time with a known value, and over all time played.
    static func averages(
        overKnown known: WritableKeyPath<AccessLog.Totals, BitRate?>,
        overAll all: WritableKeyPath<AccessLog.Totals, BitRate?>
    ) -> Self {
        Self(initialValue: nil) { events, property, totals in
            var average = TimeWeightedBitRate()
            var durationWatched = Duration.zero
            for event in events {
                let duration = max(.zero, event.durationWatched ?? .zero)
                durationWatched = durationWatched.addingClamped(duration)
                average.add(event[keyPath: property], for: duration)
            }
            totals[keyPath: known] = average.value
            totals[keyPath: all] = average.value(over: durationWatched)
        }
    }
}
