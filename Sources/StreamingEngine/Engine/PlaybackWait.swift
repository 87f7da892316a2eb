import MediaTiming
package import ResourceAddressing

/// The response, or the time of the next try, that playback waits for.
package enum PlaybackWait: Sendable, Hashable {
    /// The response to a request for a segment or a playlist, which began at a time on the clock of the engine.
    case response(ResourceAddress, began: Duration)
    /// The time on the clock of the engine at which the next request is tried after a failure.
    case retry(at: Duration)

    /// The description for people, such as `12 s for 2.ts`.
    package func text(at now: Duration) -> String {
        switch self {
        case .response(let address, let began):
            let seconds = Int64(clamping: max(.zero, now - began).components.seconds)
            return "\(seconds) s for \(address.lastPathComponent)"
        case .retry(let time):
            return "next try in \(Int64(saturating: max(1, (time - now).inSeconds.rounded(.up)))) s"
        }
    }

    /// The description for people once a response has been waited for for a second; `nil` before.
    package func lastingText(at now: Duration) -> String? {
        if case .response(_, let began) = self, now - began < .seconds(1) { return nil }
        return text(at: now)
    }
}

extension TrackState {
    /// The response, or the time of the next try, that the track waits for; `nil` if nothing is requested.
    var wait: PlaybackWait? {
        if case .transferring(let job) = fetch { return .response(job.segment.address, began: job.began) }
        if case .loading(let request) = load { return .response(request.source.address, began: request.began) }
        if let request = reloads.inProgress { return .response(request.source.address, began: request.began) }
        return failures.retryTime.map { .retry(at: $0) }
    }
}

extension TrackSet {
    /// The wait of the required track whose buffer ends first; `nil` if nothing is requested.
    func wait(_ moment: PlaybackMoment) -> PlaybackWait? {
        let waits = required.compactMap { kind in
            self[kind].wait.map { wait in
                (end: SegmentScheduler.loadedEnd(from: moment.position, in: loaded(of: kind)), wait: wait)
            }
        }
        return waits.min { $0.end < $1.end }?.wait
    }
}
