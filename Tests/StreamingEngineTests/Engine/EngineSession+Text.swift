import Foundation
import HLSPlaylist
import MediaTiming
import PlaybackReporting

@testable import StreamingEngine

/// The text of events, reports and snapshots in the transcript.
extension EngineSession {
    static func name(_ address: String) -> String {
        address.hasPrefix(root) ? String(address.dropFirst(root.count)) : address
    }

    // MARK: Numbers

    static func text(_ number: Double) -> String {
        var text = String(format: "%.3f", number)
        while text.hasSuffix("0") { text.removeLast() }
        if text.hasSuffix(".") { text.removeLast() }
        return text == "-0" ? "0" : text
    }

    func text(_ time: Duration) -> String { Self.text(time / .seconds(1)) }
    func text(_ time: MediaTime) -> String { Self.text(time.seconds) }
    func text(_ range: MediaTimeRange) -> String { Self.text(range) }
    static func text(_ range: MediaTimeRange) -> String {
        "\(text(range.start.seconds))...\(text(range.end.seconds))"
    }
    static func text(_ ranges: [MediaTimeRange]) -> String {
        "[" + ranges.map { text($0) }.joined(separator: ", ") + "]"
    }

    // MARK: Events

    func text(_ event: EngineEvent) -> String {
        switch event {
        case .observed: "observed"
        case .started: "started"
        case .opened: "opened"
        case .fileIndexed: "file indexed"
        case .openingFailed(let error, _): "opening failed: \(error.message)"
        case .reopened(let request, .success, _): "reopened \(request)"
        case .reopened(let request, .failure(let error), _): "reopening \(request) failed: \(error.message)"
        case .steeringManifestReceived(let request, .success(let manifest), _):
            "steering manifest \(request) received: \(manifest.pathwayPriority.joined(separator: " "))"
        case .steeringManifestReceived(let request, .failure(let error), _):
            "steering manifest \(request) failed: \(error.message)"
        case .playlistReceived(let request, let response):
            switch response.result {
            case .success(let playlist): "playlist \(request) received: \(playlist.segmentSequences)"
            case .failure(let error): "playlist \(request) failed: \(error.message)"
            }
        case .segmentReceived(let request, .success, _): "segment \(request) received"
        case .segmentReceived(let request, .failure, _): "segment \(request) failed"
        case .transferMeasured(let request, _): "transfer \(request) measured"
        case .transferCancelled(let request, _): "transfer \(request) cancelled"
        case .appended(let request, .success): "append \(request) accepted"
        case .appended(let request, .failure): "append \(request) refused"
        case .pipelineFinished(let result): text(result)
        case .pipelineReported(let event): "pipeline reported \(text(event))"
        case .requestsCompleted(let requests): "requests completed: \(requests.count)"
        case .timerFired: "timer fired"
        case .command(let command): text(command)
        case .stopped: "stopped"
        }
    }

    private func text(_ result: PipelineResult) -> String {
        switch result {
        case .done: "pipeline done"
        case .sought(let id, .success(let landed)): "seek \(id) landed at \(text(landed))"
        case .sought(let id, .failure): "seek \(id) failed"
        case .rateSet: "rate set"
        case .stepped(let landed, let waiter): "stepped for \(waiter) to \(landed.map { text($0) } ?? "nothing")"
        case .trickPlayDiscarded: "trick play discarded"
        }
    }

    private func text(_ command: EngineCommand) -> String {
        switch command {
        case .setRate(let rate, _, let atOnce): "command rate \(Self.text(rate))\(atOnce ? " at once" : "")"
        case .setRateSynchronized(let rate, let target, let time, let waiter):
            "command rate \(Self.text(rate)) from \(target.map { text($0) } ?? "here") at \(text(time)) for \(waiter)"
        case .seek(let target, _, let waiter): "command seek \(text(target)) for \(waiter)"
        case .seekToDate(_, _, let waiter): "command seek to date for \(waiter)"
        case .step(let count, let waiter): "command step \(count) for \(waiter)"
        case .cancelPendingSeeks: "command cancel seeks"
        case .select(let option, let type): "command select \(option?.name ?? "nothing") for \(type.rawValue)"
        case .update: "command update"
        }
    }

    func text(_ command: PipelineCommand) -> String {
        switch command {
        case .seek(let id, let target, let tolerance):
            "pipeline seek \(id) to \(text(target))\(tolerance == .exact ? " exactly" : "")"
        case .setRate(let rate, let time):
            "pipeline rate \(Self.text(rate))\(time.map { " at \(text($0))" } ?? "")"
        case .step(let count, let waiter): "pipeline step \(count) for \(waiter)"
        case .discard(let ranges): "pipeline discard \(text(ranges))"
        case .discardTrickPlay(let ranges): "pipeline discard trick play \(text(ranges))"
        case .selectCaptions(let channel): "pipeline captions \(channel ?? "off")"
        case .selectTrack(let type, let track): "pipeline track \(type) \(track.map { "\($0)" } ?? "none")"
        case .setAudioSettings: "pipeline audio settings"
        }
    }

    private func text(_ ranges: [DiscardedRange]) -> String {
        ranges.map { "\($0.type) \(text($0.range))" }.joined(separator: ", ")
    }

    // MARK: Reports

    private func text(_ variant: VariantDescription?) -> String { variant.map { Self.name($0.address) } ?? "none" }

    private func text(_ change: VariantSwitch) -> String {
        let numbers = change.evidence
        let renditions = change.renditions.map { "\($0.key)=\(Self.name($0.value.address))" }.sorted()
        return "\(text(change.from)) -> \(text(change.to)) (\(change.cause)) level \(text(numbers.bufferLevel))"
            + (numbers.throughput.map { " throughput \($0.bitsPerSecond / 1_000)k" } ?? "")
            + (renditions.isEmpty ? "" : " with \(renditions.joined(separator: " "))")
            + " loaded \(Self.text(change.loadedTimeRanges))"
    }

    private func text(_ error: PlaybackErrorRecord) -> String {
        "\(error.domain) \(error.statusCode) \(error.didRecover ? "recovered" : "terminal"): \(error.comment)"
            + (error.address.map { " (\(Self.name($0)))" } ?? "")
    }

    private func text(_ request: ResourceRequest) -> String {
        var text = "\(request.kind) \(Self.name(request.address))"
        text += " \(self.text(request.requestStart))...\(self.text(request.responseEnd)) \(request.bytes.bytes) bytes"
        if let type = request.mediaType { text += " \(type)" }
        if let variant = request.variant { text += " of \(Self.name(variant.address))" }
        if let duration = request.segmentDuration { text += " lasts \(self.text(duration))" }
        if let index = request.indexAddress { text += " from \(Self.name(index))" }
        if let status = request.status { text += " status \(status)" }
        if let failure = request.failure { text += " failed: \(failure)" }
        if request.wasAbandoned { text += " abandoned" }
        if let isCellular = request.usedCellularNetwork { text += isCellular ? " cellular" : " not cellular" }
        return text
    }

    func text(_ kind: PlaybackEvent.Kind) -> String {
        switch kind {
        case .statusChanged(let status): "status \(status)"
        case .playbackTypeKnown(let type): "type \(type)"
        case .rateChanged(let change):
            "rate \(Self.text(change.previousRate)) -> \(Self.text(change.rate)) (\(change.reason)) \(text(change.variant))"
        case .timeControlChanged(let control): "time control \(Self.text(control))"
        case .resourceRequest(let request): "request \(text(request))"
        case .segmentLoaded(let segment):
            "loaded \(Self.name(segment.address)) \(segment.mediaType) \(text(segment.range)) of \(text(segment.variant))"
                + " \(segment.bytes.bytes) bytes in \(text(segment.transferDuration))\(segment.isOverdue ? " overdue" : "")"
        case .segmentSkipped(let segment):
            "skipped \(Self.name(segment.address)) \(segment.mediaType) \(text(segment.range)) (\(segment.reason))"
        case .likelyToKeepUp(let keepUp):
            "keeps up \(keepUp.isInitial ? "first " : "")after \(text(keepUp.timeTaken)) with \(text(keepUp.variant))"
                + " loaded \(Self.text(keepUp.loadedTimeRanges)), \(keepUp.requests.count) requests"
        case .stalled: "stalled"
        case .stallEnded(let duration): "stall ended after \(text(duration))"
        case .seekStarted(let target): "seek started to \(text(target))"
        case .seekEnded(let outcome):
            "seek ended to \(text(outcome.target)), landed \(outcome.landed.map { text($0) } ?? "nowhere")"
                + (outcome.didSeekInBuffer ? " in buffer" : "")
        case .timeJumped(let from, let to): "time jumped \(from.map { text($0) } ?? "?") -> \(text(to))"
        case .variantSwitchStarted(let change): "switch started \(text(change))"
        case .variantSwitched(let change, let succeeded):
            "switch \(succeeded ? "ended" : "failed") \(text(change))"
        case .pathwayChanged(let from, let to): "pathway \(from) -> \(to)"
        case .selectionChanged(let change):
            "selection \(change.mediaType) \(change.option ?? "nothing")\(change.isExplicit ? "" : " by itself")"
        case .tracksChanged(let tracks):
            "tracks " + tracks.map { "\($0.id):\($0.mediaType):\($0.codec ?? "?")" }.joined(separator: " ")
        case .seekableRangeChanged(let range): "seekable \(range.map { text($0) } ?? "nothing")"
        case .timedMetadata: "metadata"
        case .frames(let frames): "frames \(frames.decoded) dropped \(frames.dropped)"
        case .error(let error): "error \(text(error))"
        case .playedToEnd: "played to end"
        case .failedToPlayToEnd(let error): "failed to play to end \(text(error))"
        case .ended: "ended"
        }
    }

    private static func text(_ control: TimeControl) -> String {
        switch control {
        case .paused: "paused"
        case .playing: "playing"
        case .waiting(let reason): "waiting (\(reason))"
        }
    }

    private func text(_ event: MediaPipelineEvent) -> String {
        switch event {
        case .timebaseChanged: "a new timebase"
        case .firstFrame: "the first frame"
        case .videoSizeChanged: "another size of the video"
        case .tracksChanged(let tracks): "\(tracks.count) tracks"
        case .timedMetadata: "metadata"
        case .unplayable(let type, let range): "that \(type) of \(text(range)) cannot be played"
        case .failed(let message): "a failure: \(message)"
        }
    }

    // MARK: Snapshots

    /// Returns the properties of a snapshot that differ from those of another.
    static func changes(from old: PlaybackSnapshot, to new: PlaybackSnapshot) -> [String] {
        zip(properties(of: old), properties(of: new)).filter { $0.0 != $0.1 }.map(\.1)
    }

    private static func properties(of snapshot: PlaybackSnapshot) -> [String] {
        [
            "status \(snapshot.status)", "error \(snapshot.error?.message ?? "none")",
            "type \(snapshot.playbackType.map { "\($0)" } ?? "unknown")", "rate \(text(snapshot.desiredRate))",
            "time control \(text(snapshot.timeControl))",
            "duration \(snapshot.duration.map { text($0.seconds) } ?? "unknown")",
            "loaded \(text(snapshot.loadedTimeRanges.ranges))",
            "left out \(text(snapshot.leftOutTimeRanges.ranges))",
            "seekable \(snapshot.seekableTimeRange.map { text($0) } ?? "nothing")",
            "keeps up \(snapshot.isPlaybackLikelyToKeepUp)", "empty \(snapshot.isPlaybackBufferEmpty)",
            "full \(snapshot.isPlaybackBufferFull)", "played to end \(snapshot.hasPlayedToEnd)",
            "seeking \(snapshot.isSeeking)",
            "played variant \(snapshot.playedVariant.map { name($0.address) } ?? "none")",
            "fetched variant \(snapshot.fetchedVariant.map { name($0.address) } ?? "none")",
            "live edge \(snapshot.liveEdge.map { "\(text($0.mediaTime.seconds)) at \(text($0.time / .seconds(1)))" } ?? "none")",
            "offset \(snapshot.recommendedTimeOffsetFromLive.map { text($0.seconds) } ?? "none")",
            "date ranges \(snapshot.dateRanges.count), interstitials \(snapshot.interstitialRanges.count)",
            "boundaries revision \(snapshot.segmentBorders.revision)",
        ]
    }
}
