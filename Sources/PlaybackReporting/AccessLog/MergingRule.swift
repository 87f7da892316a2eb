import MediaTiming

/// The rule by which the values of a field in several events of an access log become one.
struct MergingRule<Value> {
    /// Returns the value for the merged event; `nil` if it is unknown.
    let merge: (_ events: [AccessLog.Event], _ property: KeyPath<AccessLog.Event, Value?>) -> Value?

    /// The value is unknown after merging.
    static var unknown: Self { Self { _, _ in nil } }

    /// The value of the first event, even if it is unknown.
    static var firstEvent: Self {
        Self { events, property in events.first.flatMap { $0[keyPath: property] } }
    }

    /// The first known value.
    static var first: Self {
        Self { events, property in events.lazy.compactMap { $0[keyPath: property] }.first }
    }

    /// The last known value.
    static var last: Self {
        Self { events, property in events.reversed().lazy.compactMap { $0[keyPath: property] }.first }
    }
}

extension MergingRule where Value: Equatable {
    /// The value that all events have; unknown if they differ.
    static var common: Self {
        Self { events, property in
            guard let first = events.first else { return nil }
            let value = first[keyPath: property]
            return events.allSatisfy { $0[keyPath: property] == value } ? value : nil
        }
    }
}

extension MergingRule where Value: Comparable {
    /// The lowest known value.
    static var minimum: Self {
        Self { events, property in events.compactMap { $0[keyPath: property] }.min() }
    }

    /// The highest known value.
    static var maximum: Self {
        Self { events, property in events.compactMap { $0[keyPath: property] }.max() }
    }
}

extension MergingRule where Value: SummableLogValue {
    /// The sum of the known values.
    static var sum: Self {
        Self { events, property in
            let values = events.compactMap { $0[keyPath: property] }
            guard let first = values.first else { return nil }
            return values.dropFirst().reduce(first) { $0.addingClamped($1) }
        }
    }
}

extension MergingRule where Value == BitRate {
    /// The average weighted by the duration to which each value applies, or the last value if all durations are zero.
    static func average(over duration: KeyPath<AccessLog.Event, Duration?>) -> Self {
        Self { events, property in
            var average = TimeWeightedBitRate()
            for event in events { average.add(event[keyPath: property], for: event[keyPath: duration] ?? .zero) }
            return average.value ?? events.reversed().lazy.compactMap { $0[keyPath: property] }.first
        }
    }
}
