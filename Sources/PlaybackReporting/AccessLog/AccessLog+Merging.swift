import MediaTiming

extension AccessLog.Event {
    /// Returns the given periods as one event, or as two if only some of them have an indicated bit rate.
    ///
    /// They are kept apart because an average over known and unknown bit rates would be wrong.
    static func merged(_ events: some Sequence<AccessLog.Event>) -> [AccessLog.Event] {
        var known: [AccessLog.Event] = []
        var unknown: [AccessLog.Event] = []
        for event in events {
            if let rate = event.indicatedBitrate, rate.bitsPerSecond > 0 {
                known.append(event)
            } else {
                unknown.append(event)
            }
        }
        return [unknown, known].compactMap(Self.init(merging:))
    }

    /// Creates an event that combines the values of each field by the field's rule; `nil` without events.
    private init?(merging events: [AccessLog.Event]) {
        guard !events.isEmpty else { return nil }
        self.init()
        playbackStartDate = events.lazy.compactMap(\.playbackStartDate).first
        for field in AccessLogField.allCases { field.definition.merge(events, &self) }
    }
}
