import MediaTiming
package import ResourceAddressing

/// The response, the time of the next try, or the update of a live playlist that playback waits for.
package enum PlaybackWait: Sendable, Hashable {
    /// The response to a request for a segment or a playlist, which began at a time on the clock of the engine.
    case response(ResourceAddress, began: Duration)
    /// The time on the clock of the engine at which the next request is tried after a failure.
    case retry(at: Duration)
    /// New segments in a live playlist. The time on the clock of the engine is that of the last load with new segments. The message is
    /// that of the error of the last reload; `nil` if the reload has not failed.
    case update(ResourceAddress, since: Duration, failure: String?)

    /// The description for people, such as `12 s for 2.ts`.
    package func text(at now: Duration) -> String {
        switch self {
        case .response(let address, let began):
            let seconds = Int64(clamping: max(.zero, now - began).components.seconds)
            return "\(seconds) s for \(address.lastPathComponent)"
        case .retry(let time):
            return "next try in \(Int64(saturating: max(1, (time - now).inSeconds.rounded(.up)))) s"
        case .update(let address, let since, let failure):
            let seconds = Int64(clamping: max(.zero, now - since).components.seconds)
            let reason = failure.map { " (\($0))" } ?? ""
            return "\(seconds) s for new segments in \(address.lastPathComponent)\(reason)"
        }
    }

    /// The description for people once a response has been waited for for a second; `nil` before.
    package func lastingText(at now: Duration) -> String? {
        if case .response(_, let began) = self, now - began < .seconds(1) { return nil }
        return text(at: now)
    }
}

extension TrackState {
    /// The wait of the track; `nil` if nothing is requested or expected.
    var wait: PlaybackWait? {
        if case .transferring(let job) = fetch { return .response(job.segment.address, began: job.began) }
        if case .loading(let request) = load { return .response(request.source.address, began: request.began) }
        if let time = failures.retryTime { return .retry(at: time) }
        // The reloads of a live playlist are short, and most of the time none of them is in progress.
        if let playlist, playlist.timeline.isLive, playlist.source == source {
            return .update(playlist.source.address, since: playlist.lastUpdate, failure: reloads.failure)
        }
        return reloads.inProgress.map { .response($0.source.address, began: $0.began) }
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
