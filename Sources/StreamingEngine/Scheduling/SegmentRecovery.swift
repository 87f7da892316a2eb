import MediaTiming
import MediaTransport

/// Decides how to continue after a segment failed to load: retry, use another source, skip the segment, or end
/// playback.
struct SegmentRecovery: Sendable {
    /// The action after a failure.
    enum Verdict: Sendable, Equatable {
        /// Request the segment again after a delay, because the server is unreachable or the segment may not be
        /// available yet.
        case retry(after: Duration)
        /// Request the same media time from another location or another variant.
        case useAlternative
        /// Skip the segment.
        case skip
        /// End playback.
        case fail
    }

    /// The kinds of failures.
    enum Fault: Sendable, Equatable {
        /// The server does not respond.
        case unreachable
        /// The server reports a temporary failure.
        case busy
        /// The server responds without the segment.
        case missing
        /// The segment was received, but is damaged.
        case damaged
        /// Access is denied, whichever source is used.
        case forbidden
    }

    /// The maximum number of consecutive segments that may be skipped.
    ///
    /// With more, playback would not be useful any more.
    static let maximumConsecutiveSkips = 4
    /// The time for which a server may be busy before one segment is skipped, which may be the only one that fails.
    static let busyTimeout = Duration.seconds(20)

    private var unreachableSince: Duration?
    private var busySince: Duration?
    private var hasSkippedBusy = false
    private var retries = 0
    private var skips = 0
    private var timeOfFault: MediaTime?

    /// Resets the state after a segment was loaded.
    mutating func succeeded() { self = SegmentRecovery() }

    /// Records a failure.
    ///
    /// - Parameters:
    ///   - fault: The kind of the failure.
    ///   - time: The media time that is missing.
    ///   - hasAlternatives: Whether there is another source for the same media time that was not tried.
    ///   - isLive: Whether the segment may become available later.
    ///   - isUrgent: Whether playback is about to stall without the segment.
    ///   - timeout: The maximum time for which requests are repeated while no server is reachable or the server is
    ///     busy.
    ///   - now: The current time.
    /// - Returns: The action to take.
    mutating func failed(
        _ fault: Fault,
        at time: MediaTime,
        hasAlternatives: Bool,
        isLive: Bool,
        isUrgent: Bool = true,
        timeout: Duration,
        now: Duration
    ) -> Verdict {
        if time != timeOfFault {
            timeOfFault = time
            retries = 0
        }
        if fault != .unreachable { unreachableSince = nil }
        switch fault {
        case .forbidden: return .fail
        case .unreachable:
            let since = unreachableSince ?? now
            unreachableSince = since
            guard now - since < timeout else { return .fail }
            retries += 1
            if hasAlternatives, retries == 1 { return .useAlternative }
            return .retry(after: Self.delay(retries))
        case .busy:
            let since = busySince ?? now
            busySince = since
            retries += 1
            if hasAlternatives, retries == 1 { return .useAlternative }
            let isOver = now - since >= timeout
            if !hasSkippedBusy, isOver || isUrgent && now - since >= min(Self.busyTimeout, timeout / 2) {
                hasSkippedBusy = true
                // It is not known yet whether only this segment fails.
                if isOver { busySince = now - timeout / 2 }
                return .skip
            }
            return isOver ? .fail : .retry(after: Self.delay(retries))
        case .missing, .damaged:
            if hasAlternatives { return .useAlternative }
            // The playlist of a live stream may be updated before all servers have the media.
            if isLive, fault == .missing, retries < 2 {
                retries += 1
                return .retry(after: .seconds(1))
            }
            skips += 1
            return skips > Self.maximumConsecutiveSkips ? .fail : .skip
        }
    }

    private static func delay(_ retries: Int) -> Duration {
        min(.seconds(1) * (1 << min(retries - 1, 3)), .seconds(8))
    }
}

extension SegmentRecovery.Fault {
    /// Creates the kind of failure for a transport error.
    init(_ error: TransportError, isKey: Bool) {
        switch error.code {
        case .cannotConnect, .unknownHost, .timedOut, .connectionLost: self = .unreachable
        case .status where [408, 425, 429, 500, 502, 503, 504].contains(error.status): self = .busy
        case .status where isKey && [401, 402, 403].contains(error.status): self = .forbidden
        default: self = .missing
        }
    }
}
