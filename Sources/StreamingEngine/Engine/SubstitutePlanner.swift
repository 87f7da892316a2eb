import MediaTiming

/// The decision which segments of the former variant are fetched while the playlist of a better variant is loaded.
enum SubstitutePlanner {
    /// A decision about the next segment of the former variant.
    enum Decision: Sendable {
        /// The track waits for an event, or until a time.
        case wait(until: Duration?)
        /// The segment is fetched from the source.
        case fetch(SegmentReference, StreamSource)
        /// No more segments of the former variant are fetched.
        case stop
    }

    /// The buffer that must remain while segments of another variant are fetched during the load of a playlist.
    private static let margin = Duration.seconds(1)

    /// Returns the variant to fetch while the playlist of a better one is loaded.
    ///
    /// There is none for a lower variant, whose playlist needs all of the throughput.
    ///
    /// - Parameters:
    ///   - source: The source whose playlist is loaded.
    ///   - plan: The sources of the tracks.
    ///   - moment: The state of playback.
    /// - Returns: The former variant; `nil` if segments are fetched only after the playlist is loaded.
    static func substitute(
        for source: StreamSource,
        _ plan: FetchPlan,
        _ moment: PlaybackMoment
    ) -> PlaylistRequest.Substitute? {
        let catalog = plan.catalog
        guard let former = plan.tracks.main.playlistSource, !plan.tracks.trickPlay.isActive,
            !catalog.isExcluded(former, at: moment.now)
        else { return nil }
        let (old, new) = (catalog.variant(of: former), catalog.variant(of: source))
        let hasSeparateAudio = [old, new].map { $0.map { catalog.hasSeparateAudio($0) } ?? false }
        guard hasSeparateAudio[0] == hasSeparateAudio[1],
            new?.typicalBitRate?.bitsPerSecond ?? 0 > old?.typicalBitRate?.bitsPerSecond ?? 0
        else { return nil }
        // A playlist is small, and other requests at the same time would only delay it.
        let earliest = moment.now + min(margin, plan.tracks.ahead(moment) / 2)
        return PlaylistRequest.Substitute(source: former, earliest: earliest)
    }

    /// Decides the next step of the main track while a playlist is loaded.
    ///
    /// - Parameters:
    ///   - load: The load of the playlist.
    ///   - plan: The sources of the tracks.
    ///   - moment: The state of playback.
    /// - Returns: The decision; to wait for an event if the load has no substitute.
    static func decide(_ load: PlaylistRequest, _ plan: FetchPlan, _ moment: PlaybackMoment) -> Decision {
        guard let substitute = load.substitute else { return .wait(until: nil) }
        let source = substitute.source
        let track = plan.tracks.main
        guard track.playlistSource == source, track.source == load.source, track.failures.terminalError == nil,
            !plan.catalog.isExcluded(source, at: moment.now), !track.failures.tried.contains(source)
        else { return .stop }
        guard moment.isSettled else { return .wait(until: nil) }
        if let time = track.failures.retryTime, time > moment.now { return .wait(until: time) }
        let scheduler = SegmentScheduler(
            position: moment.position,
            loaded: track.buffer.current,
            capacity: plan.tracks.capacity(moment),
            end: moment.limits.forwardEnd,
            isReverse: moment.isBackward
        )
        guard let timeline = track.timeline, case .fetch(let segment) = scheduler.nextStep(in: timeline) else {
            return .stop
        }
        let timeOfFetch = estimatedTime(of: segment, from: source, plan.catalog)
        let left = plan.tracks.ahead(moment) - max(margin, timeOfFetch)
        guard left <= .zero, moment.now >= substitute.earliest else {
            guard moment.rate != 0 else { return .wait(until: nil) }
            let rate = max(abs(moment.rate), 0.01)
            return .wait(until: max(moment.now + max(left, .zero) / rate, substitute.earliest))
        }
        return .fetch(segment, source)
    }

    /// Returns the time that a segment will take at the current throughput; zero if it is unknown.
    private static func estimatedTime(
        of segment: SegmentReference,
        from source: StreamSource,
        _ catalog: SourceCatalog
    ) -> Duration {
        guard let rate = catalog.variant(of: source)?.typicalBitRate, let throughput = catalog.chooser.throughput,
            throughput.bitsPerSecond > 0
        else { return .zero }
        return segment.duration.duration * min(Double(rate.bitsPerSecond) / Double(throughput.bitsPerSecond), 4)
    }
}
