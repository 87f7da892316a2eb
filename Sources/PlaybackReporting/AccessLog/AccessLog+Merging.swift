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

    /// Adds up counts and durations, and averages bit rates over the durations to which they apply; `nil` without
    /// events.
    private init?(merging events: [AccessLog.Event]) {
        guard let first = events.first else { return nil }
        self.init()
        uri = events.dropFirst().allSatisfy { $0.uri == first.uri } ? first.uri : nil
        serverAddress = events.reversed().lazy.compactMap(\.serverAddress).first
        playbackSessionID = first.playbackSessionID
        playbackStartDate = events.lazy.compactMap(\.playbackStartDate).first
        playbackStartOffset = events.lazy.compactMap(\.playbackStartOffset).first
        playbackType = events.reversed().lazy.compactMap(\.playbackType).first
        startupTime = events.lazy.compactMap(\.startupTime).first
        for count in [
            \AccessLog.Event.numberOfServerAddressChanges, \.downloadOverdue, \.numberOfDroppedVideoFrames,
            \.numberOfMediaRequests, \.mediaRequestsWWAN, \.numberOfStalls,
        ] {
            self[keyPath: count] = events.sum(count) { $0.addingClamped($1) }
        }
        for duration in [\AccessLog.Event.segmentsDownloadedDuration, \.durationWatched, \.transferDuration] {
            self[keyPath: duration] = events.sum(duration) { $0.addingClamped($1) }
        }
        numberOfBytesTransferred = events.sum(\.numberOfBytesTransferred, +)
        observedBitrate = events.average(\.observedBitrate, over: \.transferDuration)
        for rate in [
            \AccessLog.Event.indicatedBitrate, \.indicatedAverageBitrate, \.averageVideoBitrate, \.averageAudioBitrate,
        ] {
            self[keyPath: rate] = events.average(rate, over: \.durationWatched)
        }
        observedMaxBitrate = events.lazy.compactMap(\.observedMaxBitrate).max()
        observedMinBitrate = events.lazy.compactMap(\.observedMinBitrate).min()
    }
}

extension [AccessLog.Event] {
    /// Returns the sum of the known values, or `nil` if there are none.
    fileprivate func sum<Value>(_ property: KeyPath<Element, Value?>, _ add: (Value, Value) -> Value) -> Value? {
        let values = compactMap { $0[keyPath: property] }
        return values.first.map { values.dropFirst().reduce($0, add) }
    }

    /// Returns the time-weighted average, or the last value if all durations are zero.
    fileprivate func average(
        _ rate: KeyPath<Element, BitRate?>,
        over duration: KeyPath<Element, Duration?>
    ) -> BitRate? {
        var average = TimeWeightedBitRate()
        for event in self { average.add(event[keyPath: rate], for: event[keyPath: duration] ?? .zero) }
        return average.value ?? reversed().lazy.compactMap { $0[keyPath: rate] }.first
    }
}
