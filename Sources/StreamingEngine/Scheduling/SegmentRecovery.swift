import MediaTiming
import MediaTransport

/// Decides what follows when a segment cannot be had: the same from elsewhere, another quality, none, or the end.
struct SegmentRecovery: Sendable {
    /// What is to be done.
    enum Verdict: Sendable, Equatable {
        /// Ask again, after a while: nothing can be reached, or it may not be there yet.
        case retry(after: Duration)
        /// Ask for the same time elsewhere: at another location, or in another variant.
        case goElsewhere
        /// Leave it out.
        case skip
        /// Playing ends here.
        case giveUp
    }

    /// What went wrong.
    enum Fault: Sendable, Equatable {
        /// Nothing answers.
        case unreachable
        /// The server answers that it cannot for now.
        case busy
        /// The server answers, but not with it.
        case missing
        /// It came and is damaged.
        case damaged
        /// Who asks may not have it, wherever it comes from.
        case forbidden
    }

    /// So many segments in a row may be left out: behind them, nobody would call it playing.
    static let toleratedSkips = 4
    /// So long a server may be busy before one segment is left out: it may be the only one that it has trouble with.
    static let busyPatience = Duration.seconds(20)

    private var unreachableSince: Duration?
    private var busySince: Duration?
    private var hasSkippedBusy = false
    private var retries = 0
    private var skips = 0
    private var timeOfFault: MediaTime?

    /// Something came.
    mutating func succeeded() { self = SegmentRecovery() }

    /// Something did not come.
    ///
    /// - Parameters:
    ///   - fault: What went wrong.
    ///   - time: The media time that is missing.
    ///   - hasAlternatives: Whether the same time can be had elsewhere, and was not tried there.
    ///   - isLive: Whether it may appear a little later.
    ///   - isUrgent: Whether the play head is about to stand still for want of it.
    ///   - patience: How long to go on while nothing can be reached.
    ///   - now: The time.
    /// - Returns: What is to be done.
    mutating func failed(
        _ fault: Fault,
        at time: MediaTime,
        hasAlternatives: Bool,
        isLive: Bool,
        isUrgent: Bool = true,
        patience: Duration,
        now: Duration
    ) -> Verdict {
        if time != timeOfFault {
            timeOfFault = time
            retries = 0
        }
        if fault != .unreachable { unreachableSince = nil }
        switch fault {
        case .forbidden: return .giveUp
        case .unreachable:
            let since = unreachableSince ?? now
            unreachableSince = since
            guard now - since < patience else { return .giveUp }
            retries += 1
            if hasAlternatives, retries == 1 { return .goElsewhere }
            return .retry(after: Self.delay(retries))
        case .busy:
            let since = busySince ?? now
            busySince = since
            retries += 1
            if hasAlternatives, retries == 1 { return .goElsewhere }
            let isOver = now - since >= patience
            if !hasSkippedBusy, isOver || isUrgent && now - since >= min(Self.busyPatience, patience / 2) {
                hasSkippedBusy = true
                // Whether it is this one alone has yet to be seen.
                if isOver { busySince = now - patience / 2 }
                return .skip
            }
            return isOver ? .giveUp : .retry(after: Self.delay(retries))
        case .missing, .damaged:
            if hasAlternatives { return .goElsewhere }
            // The playlist of a live stream may be ahead of the servers that have the media.
            if isLive, fault == .missing, retries < 2 {
                retries += 1
                return .retry(after: .seconds(1))
            }
            skips += 1
            return skips > Self.toleratedSkips ? .giveUp : .skip
        }
    }

    private static func delay(_ retries: Int) -> Duration {
        min(.seconds(1) * (1 << min(retries - 1, 3)), .seconds(8))
    }
}

extension SegmentRecovery.Fault {
    /// What a failure of a transport means.
    init(_ error: TransportError, isKey: Bool) {
        switch error.code {
        case .cannotConnect, .unknownHost, .timedOut, .connectionLost: self = .unreachable
        case .status where [408, 425, 429, 500, 502, 503, 504].contains(error.status): self = .busy
        case .status where isKey && [401, 402, 403].contains(error.status): self = .forbidden
        default: self = .missing
        }
    }
}
