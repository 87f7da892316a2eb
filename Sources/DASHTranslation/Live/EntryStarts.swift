import MediaTiming

/// The starts of the entries of a media playlist on the timeline of the presentation, ascending.
struct EntryStarts: Sendable, Hashable {
    /// The starts of the entries in a period.
    struct Part: Sendable, Hashable {
        /// The times of entries relative to the start of the period.
        enum Times: Sendable, Hashable {
            case exact([MediaTime])
            /// Integers, which take less memory and time than fractions.
            case ticks([Int64], rate: Int64)

            var count: Int {
                switch self {
                case .exact(let times): times.count
                case .ticks(let times, _): times.count
                }
            }
        }

        /// The start of the period.
        let origin: MediaTime
        let times: Times

        func start(at index: Int) -> MediaTime {
            switch times {
            case .exact(let times): origin + times[index]
            case .ticks(let times, let rate): origin + MediaTime(value: times[index], timescale: rate)
            }
        }

        /// Returns the starts without the first `count`; there must be at least as many.
        func dropFirst(_ count: Int) -> Part {
            switch times {
            case .exact(let times): Part(origin: origin, times: .exact(Array(times.dropFirst(count))))
            case .ticks(let times, let rate):
                Part(origin: origin, times: .ticks(Array(times.dropFirst(count)), rate: rate))
            }
        }
    }

    /// The periods in order.
    private(set) var parts: [Part] = []
    /// The number of entries.
    private(set) var count = 0
    var isEmpty: Bool { count == 0 }
    var first: MediaTime? { isEmpty ? nil : self[0] }

    /// Adds the entries of the next period.
    mutating func append(_ part: Part) {
        guard part.times.count > 0 else { return }
        parts.append(part)
        count +|= part.times.count
    }

    /// The start of the entry at an index, which must be 0 or more and less than ``count``.
    ///
    /// - Complexity: O(*n*) in periods.
    subscript(index: Int) -> MediaTime {
        var rest = index
        for part in parts {
            guard rest >= part.times.count else { return part.start(at: rest) }
            rest -|= part.times.count
        }
        return .zero
    }

    /// Returns the starts without the first ones.
    func dropFirst(_ number: Int) -> EntryStarts {
        guard number > 0 else { return self }
        var result = EntryStarts()
        var rest = number
        for part in parts {
            let dropped = min(rest, part.times.count)
            result.append(part.dropFirst(dropped))
            rest -|= dropped
        }
        return result
    }
}
