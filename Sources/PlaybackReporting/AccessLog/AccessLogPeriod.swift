import MediaTiming

/// A current period of playback: its event and the sums from which some of its figures are computed.
struct AccessLogPeriod: Sendable, Hashable {
    private(set) var event: AccessLog.Event
    private var rates = ObservedBitRates()
    private var mediaBytes = ByteCount.zero
    private var mediaTransferDuration = Duration.zero

    /// A Boolean value that indicates whether playback has begun in the period.
    var hasStarted: Bool { event.playbackStartDate != nil }

    /// Creates a period without any activity: fields whose totals are sums begin at zero, as their definitions say.
    init(session: PlaybackSession, type: PlaybackType?, showsFrames: Bool) {
        event = AccessLog.Event()
        for field in AccessLogField.allCases { field.definition.begin(&event) }
        event.playbackSessionID = session.id.limited
        event.uri = session.address?.limited
        event.playbackType = type
        event.numberOfDroppedVideoFrames = showsFrames ? 0 : nil
    }

    /// Records the start of playback.
    mutating func start(at date: Duration, offset: MediaTime?) {
        event.playbackStartDate = date.clamped
        event.playbackStartOffset = offset.map { max(.zero, $0.duration.clamped) }
    }

    /// Removes the start of playback, because the position changed before anything was played.
    mutating func removeStart() {
        event.playbackStartDate = nil
        event.playbackStartOffset = nil
    }

    /// Removes media time that was added as played, but was skipped.
    mutating func remove(played: Duration) {
        event.durationWatched = event.durationWatched?.subtractingClampedToZero(played)
    }

    /// Sets the variant that is played and the bit rates of its tracks.
    mutating func setVariant(_ variant: VariantDescription?, trackBitRates tracks: TrackBitRates) {
        if let variant {
            event.uri = variant.address.limited
            event.indicatedBitrate = variant.peakBitRate.bitsPerSecond > 0 ? variant.peakBitRate : nil
            event.indicatedAverageBitrate = variant.averageBitRate
        }
        event.averageVideoBitrate = tracks.videoRate(of: variant)
        event.averageAudioBitrate = tracks.audioRate(of: variant)
    }

    /// Sets one value of the event.
    mutating func set<Value>(_ property: WritableKeyPath<AccessLog.Event, Value?>, to value: Value?) {
        event[keyPath: property] = value
    }

    /// Increments one count of the event.
    mutating func count(_ property: WritableKeyPath<AccessLog.Event, Int?>, _ number: Int = 1) {
        event[keyPath: property] = (event[keyPath: property] ?? 0).addingClamped(number)
    }

    /// Adds a duration to one value of the event.
    mutating func add(_ duration: Duration, to property: WritableKeyPath<AccessLog.Event, Duration?>) {
        event[keyPath: property] = (event[keyPath: property] ?? .zero).addingClamped(duration)
    }

    /// Adds bytes received over the network.
    mutating func add(bytes: ByteCount, in transferDuration: Duration) {
        event.numberOfBytesTransferred = (event.numberOfBytesTransferred ?? .zero) + bytes
        add(transferDuration, to: \.transferDuration)
    }

    /// Adds bytes of complete or partial media segments, with the time that is not already counted for concurrent
    /// requests.
    mutating func add(mediaBytes bytes: ByteCount, in transferDuration: Duration) {
        mediaBytes = mediaBytes + bytes
        mediaTransferDuration = mediaTransferDuration.addingClamped(transferDuration)
        event.observedBitrate = BitRate(mediaBytes, in: mediaTransferDuration)
    }

    /// Adds a complete media segment.
    mutating func addSegment(_ request: ResourceRequest) {
        count(\.numberOfMediaRequests)
        if let duration = request.segmentDuration?.duration, duration > .zero {
            add(duration, to: \.segmentsDownloadedDuration)
        }
        if let isCellular = request.usedCellularNetwork {
            count(\.mediaRequestsWWAN, isCellular ? 1 : 0)
        }
        if let rate = BitRate(request.bytes, in: request.responseEnd.subtractingClampedToZero(request.requestStart)) {
            rates.add(rate)
            event.observedMinBitrate = rates.minimum
            event.observedMaxBitrate = rates.maximum
            event.observedBitrateStandardDeviation = rates.standardDeviation
        }
    }

    /// Sets the server address of the last segment.
    mutating func setServerAddress(_ address: String, didChange: Bool) {
        event.serverAddress = address
        count(\.numberOfServerAddressChanges, didChange ? 1 : 0)
    }
}
