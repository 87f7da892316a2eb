import HLSPlaylist
import MediaTiming
import MediaTransport
import PlaybackReporting
import ResourceAddressing

/// The consequence that a decision about a track has for the whole item.
enum Consequence: Sendable {
    /// Playback ends with an error.
    case fail(StreamingError)
    /// The first playlist of the main track was loaded, so that the start position is known.
    case mainPlaylistLoaded
    /// The stream has no media at the position, and playback continues at the target.
    case jump(to: MediaTime)
}

/// A loader of the playlists of the tracks, which reloads live playlists.
struct PlaylistFollower: Sendable {
    /// The maximum number of playlists in memory that are not current.
    static let maximumTimelineCount = 64
    /// The maximum memory for such playlists, in bytes.
    ///
    /// Playlists that exceed it are loaded again when they are needed.
    static let maximumTimelineBytes = 64 << 20

    /// The type of the item; `nil` while it is unknown.
    private(set) var playbackType: PlaybackType?
    /// The date ranges and the segment boundaries of the playlists.
    private(set) var contents = PlaylistContents()
    /// The timelines of playlists that have ended, which need not be loaded again.
    private var knownTimelines = BoundedCache<StreamSource, PresentationTimeline>(
        limit: maximumTimelineBytes,
        mostValues: maximumTimelineCount
    )
    /// The sources of live playlists that stopped updating, with the media sequence number after their last segment.
    private var stuckPlaylists: [StreamSource: Int64] = [:]

    /// Records that the item is a media file.
    mutating func openFile(_ sink: inout EffectSink) {
        playbackType = .file
        sink.report(.playbackTypeKnown(.file))
    }

    /// Returns the timeline of a playlist that has ended, if it is in memory.
    func knownTimeline(of source: StreamSource) -> PresentationTimeline? { knownTimelines.peek(source) }

    // MARK: First load

    /// Loads the playlist of a source.
    ///
    /// - Returns: Whether the playlist is already in memory.
    mutating func load(
        _ source: StreamSource,
        for kind: TrackKind,
        _ plan: inout FetchPlan,
        _ moment: PlaybackMoment,
        _ sink: inout EffectSink
    ) -> Bool {
        if plan.tracks.main.timeline != nil || kind == .main, let known = knownTimelines.value(for: source) {
            plan.tracks[kind].playlist = LoadedPlaylist(
                source: source,
                timeline: known,
                requestStart: moment.now,
                lastUpdate: moment.now
            )
            plan.tracks[kind].reloads.apply(nil)
            contents.update(afterLoadOf: kind, plan.tracks)
            sink.noteChange()
            return true
        }
        // A blocking reload of a live playlist prevents that a cache returns an older version.
        let directives = plan.tracks.main.timeline.map { timeline in
            DeliveryDirectives.firstRequest(for: source.address, reportedBy: timeline.playlist, isLowLatency: false)
        }
        let address = directives?.applied(to: source.address) ?? source.address
        let request = TransportRequest(address, kind: .playlist)
        let load = PlaylistRequest(
            number: sink.nextRequest(),
            source: source,
            request: request,
            began: moment.now,
            substitute: kind == .main ? SubstitutePlanner.substitute(for: source, plan, moment) : nil
        )
        plan.tracks[kind].load = .loading(load)
        send(load, plan, &sink)
        return false
    }

    private func send(_ load: PlaylistRequest, _ plan: FetchPlan, _ sink: inout EffectSink) {
        let variables = plan.catalog.presentation?.variables ?? [:]
        sink.add(.begin(.loadPlaylist(request: load.number, load.request, variables: variables)))
    }

    // MARK: Responses

    /// Applies the response to a request for a playlist.
    mutating func receive(
        _ response: PlaylistResponse,
        for number: Int,
        _ plan: inout FetchPlan,
        _ live: inout LiveState,
        _ moment: PlaybackMoment,
        _ sink: inout EffectSink
    ) -> Consequence? {
        for kind in TrackKind.allCases {
            if case .loading(let load) = plan.tracks[kind].load, load.number == number {
                report(response, for: kind, plan, &sink)
                return finishLoad(load, response.result, for: kind, &plan, &live, moment, &sink)
            }
            if let reload = plan.tracks[kind].reloads.end(number) {
                report(response, for: kind, plan, &sink)
                return finishReload(reload, response.result, for: kind, &plan, &live, moment, &sink)
            }
        }
        return nil
    }

    private func report(_ response: PlaylistResponse, for kind: TrackKind, _ plan: FetchPlan, _ sink: inout EffectSink)
    {
        guard var request = response.request else { return }
        // The media type is set only for requests that were answered.
        if request.failure == nil, !request.wasAbandoned { request.mediaType = plan.mediaType(of: kind) }
        sink.report(.resourceRequest(request))
    }

    private mutating func finishLoad(
        _ load: PlaylistRequest,
        _ result: Result<MediaPlaylist, StreamingError>,
        for kind: TrackKind,
        _ plan: inout FetchPlan,
        _ live: inout LiveState,
        _ moment: PlaybackMoment,
        _ sink: inout EffectSink
    ) -> Consequence? {
        sink.noteChange()
        do throws(StreamingError) {
            let playlist = try result.get()
            // Audio is aligned to video, whose playlist may still be loading.
            guard kind == .main || plan.tracks.main.timeline != nil else {
                plan.tracks[kind].load = .waitingForMainTrack(load, playlist)
                return nil
            }
            plan.tracks[kind].load = .idle
            guard plan.tracks[kind].source == load.source else { return nil }
            // The position of a playlist that stopped updating is unknown, so that its segments would be mistaken for
            // new ones.
            if let end = stuckPlaylists[load.source], playlist.segmentSequences.upperBound <= end {
                throw StreamingError(.stuck, "the live playlist still has nothing new", address: load.source.address)
            }
            stuckPlaylists[load.source] = nil
            try Self.validate(playlist, at: load.source.address)
            return adopt(playlist, from: load.source, for: kind, began: load.began, &plan, &live, moment, &sink)
        } catch {
            plan.tracks[kind].load = .idle
            guard plan.tracks[kind].source == load.source else { return nil }
            return loadFailed(load.source, for: kind, error, &plan, moment, &sink)
        }
    }

    /// Continues the load of a playlist that waited for the playlist of the main track.
    mutating func resumeLoad(
        for kind: TrackKind,
        _ plan: inout FetchPlan,
        _ live: inout LiveState,
        _ moment: PlaybackMoment,
        _ sink: inout EffectSink
    ) -> Consequence? {
        guard plan.tracks.main.timeline != nil,
            case .waitingForMainTrack(let load, let playlist) = plan.tracks[kind].load
        else { return nil }
        return finishLoad(load, .success(playlist), for: kind, &plan, &live, moment, &sink)
    }

    /// Validates that a playlist lists segments, or is live.
    ///
    /// - Throws: ``StreamingError`` if the playlist has ended without segments, or has no tag of media playlists, so that it can
    ///   never be played.
    static func validate(_ playlist: MediaPlaylist, at address: ResourceAddress) throws(StreamingError) {
        guard playlist.segmentSequences.isEmpty else { return }
        guard playlist.hasMediaTags else {
            throw StreamingError(
                .unreadablePlaylist,
                "the playlist lists neither variants nor segments, and has no EXT-X-TARGETDURATION",
                address: address
            )
        }
        guard !playlist.isLive else { return }
        throw StreamingError(
            .unreadablePlaylist,
            "the playlist lists no segments, and has ended",
            address: address
        )
    }

    /// Aligns a playlist to the timeline of the item, and makes it the current one of its track.
    mutating func adopt(
        _ playlist: MediaPlaylist,
        from source: StreamSource,
        for kind: TrackKind,
        began: Duration,
        _ plan: inout FetchPlan,
        _ live: inout LiveState,
        _ moment: PlaybackMoment,
        _ sink: inout EffectSink
    ) -> Consequence? {
        let timeline: PresentationTimeline
        let reference = plan.tracks.main.timeline ?? plan.tracks[kind].timeline
        if let reference {
            let standing = plan.tracks[plan.tracks.main.timeline == nil ? kind : .main].standstill(at: moment.now)
            let alignment = TimelineAlignment(of: playlist, to: reference, age: standing)
            timeline = PresentationTimeline(playlist, alignment: alignment)
        } else {
            timeline = PresentationTimeline(playlist)
        }
        plan.tracks[kind].source = source
        plan.tracks[kind].playlist = LoadedPlaylist(
            source: source,
            timeline: timeline,
            requestStart: began,
            lastUpdate: began
        )
        plan.tracks[kind].reloads.schedule = ReloadSchedule()
        plan.tracks[kind].reloads.failure = nil
        let action = plan.tracks[kind].reloads.schedule.loaded(playlist, began: began, at: moment.now)
        plan.tracks[kind].reloads.apply(action)
        plan.catalog.renewal.loaded(.playlist, from: source)
        if !timeline.isLive { knownTimelines.insert(timeline, for: source, cost: timeline.byteCount) }
        sink.noteChange()
        contents.update(afterLoadOf: kind, plan.tracks)
        guard kind == .main else { return nil }
        if playbackType == nil {
            playbackType = timeline.isLive ? .live : .vod
            sink.report(.playbackTypeKnown(timeline.isLive ? .live : .vod))
        }
        live.update(timeline, &sink)
        return .mainPlaylistLoaded
    }

    private func loadFailed(
        _ source: StreamSource,
        for kind: TrackKind,
        _ error: StreamingError,
        _ plan: inout FetchPlan,
        _ moment: PlaybackMoment,
        _ sink: inout EffectSink
    ) -> Consequence? {
        if plan.renewAddresses(after: error, of: .playlist, from: source, for: kind, &sink) { return nil }
        let former = plan.tracks.main.playlistSource.flatMap { $0 == source ? nil : $0 }
        if kind == .main, !plan.tracks.trickPlay.isActive, former != nil { plan.failSwitch(to: source, &sink) }
        let failure = RecoveryPolicy.Failure(ofPlaylist: error)
        let action = plan.recover(from: failure, of: .playlist, from: source, for: kind, moment) {
            $0.hasFormerSource = former != nil
        }
        return perform(action, from: source, for: kind, former, error, &plan, moment, &sink)
    }

    private func perform(
        _ action: RecoveryPolicy.Action,
        from source: StreamSource,
        for kind: TrackKind,
        _ former: StreamSource?,
        _ error: StreamingError,
        _ plan: inout FetchPlan,
        _ moment: PlaybackMoment,
        _ sink: inout EffectSink
    ) -> Consequence? {
        switch action {
        case .useOtherSource(let alternative):
            guard plan.useOtherSource(for: kind, besides: source, cause: "playlist-failed", moment, &sink) else {
                let action = RecoveryPolicy.Action(alternative)
                return perform(action, from: source, for: kind, former, error, &plan, moment, &sink)
            }
        case .useFormerSource:
            if let former { plan.revertSwitch(to: former, moment, &sink) }
        case .retry(let delay): plan.tracks[kind].failures.retryTime = moment.now + delay
        case .dropTrack:
            sink.reportRecovered(error)
            plan.drop(kind, &sink)
            return nil
        case .useNormalPlayback, .reload, .skip: break
        case .endAfterBuffer, .fail: return .fail(error)
        }
        sink.reportRecovered(error)
        return nil
    }

    // MARK: Reloads

    /// Begins the reload that is due.
    func beginReload(
        for kind: TrackKind,
        _ plan: inout FetchPlan,
        _ moment: PlaybackMoment,
        _ sink: inout EffectSink
    ) {
        guard let reload = plan.tracks[kind].nextReload(mayReload: true), reload.time <= moment.now,
            let source = plan.tracks[kind].source
        else { return }
        // Partial segments are not fetched: the complete segments at the live edge are sufficient.
        let request = PlaylistRequest(
            number: sink.nextRequest(),
            source: source,
            request: TransportRequest(reload.directives.applied(to: source.address), kind: .playlist),
            began: moment.now
        )
        plan.tracks[kind].reloads.begin(request)
        send(request, plan, &sink)
    }

    private mutating func finishReload(
        _ reload: PlaylistRequest,
        _ result: Result<MediaPlaylist, StreamingError>,
        for kind: TrackKind,
        _ plan: inout FetchPlan,
        _ live: inout LiveState,
        _ moment: PlaybackMoment,
        _ sink: inout EffectSink
    ) -> Consequence? {
        sink.noteChange()
        guard plan.tracks[kind].source == reload.source, plan.tracks[kind].playlistSource == reload.source else {
            return nil
        }
        switch result {
        case .success(let playlist):
            plan.tracks[kind].reloads.failure = nil
            return take(playlist, reload, for: kind, &plan, &live, moment, &sink)
        case .failure(let error):
            plan.tracks[kind].reloads.failure = error.message
            let action = plan.tracks[kind].reloads.schedule.failed(
                began: reload.began,
                at: moment.now,
                serverDelay: RecoveryPolicy.Failure(ofPlaylist: error).serverDelay
            )
            plan.tracks[kind].reloads.apply(action)
            if plan.renewAddresses(after: error, of: .playlist, from: reload.source, for: kind, &sink) { return nil }
            sink.reportRecovered(error)
            return follow(action, for: kind, error, &plan, moment, &sink)
        }
    }

    private mutating func take(
        _ playlist: MediaPlaylist,
        _ reload: PlaylistRequest,
        for kind: TrackKind,
        _ plan: inout FetchPlan,
        _ live: inout LiveState,
        _ moment: PlaybackMoment,
        _ sink: inout EffectSink
    ) -> Consequence? {
        let stuck = StreamingError(
            .stuck,
            "the live playlist has had nothing new for too long",
            address: plan.tracks[kind].source?.address
        )
        let update: TimelineUpdate?
        do {
            update = try plan.tracks[kind].playlist?.timeline.update(playlist)
        } catch {
            let action = plan.tracks[kind].reloads.schedule.deltaUpdateFailed(began: reload.began, at: moment.now)
            plan.tracks[kind].reloads.apply(action)
            return follow(action, for: kind, stuck, &plan, moment, &sink)
        }
        plan.catalog.renewal.loaded(.playlist, from: reload.source)
        guard let update, let whole = plan.tracks[kind].timeline?.playlist else { return nil }
        plan.tracks[kind].playlist?.requestStart = reload.began
        if update.hasUpdates { plan.tracks[kind].playlist?.lastUpdate = reload.began }
        contents.update(afterLoadOf: kind, plan.tracks)
        let action = plan.tracks[kind].reloads.schedule.loaded(
            whole,
            began: reload.began,
            at: moment.now,
            hasRestarted: update.hasRestarted
        )
        plan.tracks[kind].reloads.apply(action)
        if kind == .main { live.update(plan.tracks.main.timeline, &sink) }
        return follow(action, for: kind, stuck, &plan, moment, &sink)
    }

    /// Applies the decision of the reload schedule after a reload.
    ///
    /// - Parameters:
    ///   - action: The decision.
    ///   - kind: The track.
    ///   - error: The error of the reload, or the one that explains that the playlist has nothing new.
    ///   - plan: The sources of the tracks.
    ///   - moment: The state of playback.
    ///   - sink: The effects.
    /// - Returns: The consequence for the item; `nil` if there is none.
    private mutating func follow(
        _ action: ReloadSchedule.Action,
        for kind: TrackKind,
        _ error: StreamingError,
        _ plan: inout FetchPlan,
        _ moment: PlaybackMoment,
        _ sink: inout EffectSink
    ) -> Consequence? {
        guard let source = plan.tracks[kind].source else { return nil }
        let failure = RecoveryPolicy.Failure(ofPlaylist: error)
        let isOverdue: Bool
        switch action {
        case .finish: return nil
        case .reload:
            // Other failures may end with one of the next reloads.
            guard failure.exceedsSizeLimit else { return nil }
            isOverdue = false
        case .stuck: isOverdue = false
        case .abandon: isOverdue = true
        }
        noteStuckPlaylist(source, for: kind, error, plan)
        let isUrgent = plan.tracks.ahead(moment) < .seconds(1)
        let isDelayed = kind == .audio && isBehindMainTrack(plan.tracks)
        let resource = RecoveryPolicy.Resource.reload(isOverdue: isOverdue)
        var next = plan.recover(from: failure, of: resource, from: source, for: kind, moment) {
            $0.isUrgent = isUrgent
            $0.isDelayingOtherTracks = isDelayed
        }
        // Errors of requests were reported when the reload failed.
        let isUnreported = !isOverdue && error.code == .stuck
        if case .useOtherSource(let alternative) = next {
            if plan.useOtherSource(for: kind, besides: source, cause: "playlist-stuck", moment, &sink) {
                if isUnreported { sink.reportRecovered(error) }
                return nil
            }
            next = RecoveryPolicy.Action(alternative)
        }
        switch next {
        case .useNormalPlayback:
            sink.noteChange()
            if isUnreported { sink.reportRecovered(error) }
        case .dropTrack:
            sink.reportRecovered(error)
            plan.drop(kind, &sink)
        case .fail: return .fail(error)
        case .reload, .retry, .useOtherSource, .useFormerSource, .skip, .endAfterBuffer: break
        }
        return nil
    }

    private mutating func noteStuckPlaylist(
        _ source: StreamSource,
        for kind: TrackKind,
        _ error: StreamingError,
        _ plan: FetchPlan
    ) {
        guard error.code == .stuck, let timeline = plan.tracks[kind].timeline else { return }
        stuckPlaylists[source] = timeline.sequences.upperBound
    }

    /// Returns whether the playlist of the audio track ends before that of the main track by more than a target
    /// duration.
    private func isBehindMainTrack(_ tracks: TrackSet) -> Bool {
        guard let audio = tracks.audio.timeline, let main = tracks.main.timeline else { return false }
        return main.end - audio.end > main.targetDuration
    }
}
