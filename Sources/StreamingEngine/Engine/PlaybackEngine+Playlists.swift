import HLSPlaylist
import MediaTiming
import MediaTransport
import NIOCore
import PlaybackReporting
import ResourceAddressing

extension PlaybackEngine {
    /// So long a playlist that failed is left alone.
    static let exclusionDuration = Duration.seconds(60)

    /// Takes over a media playlist that came.
    func adopt(_ playlist: MediaPlaylist, from source: StreamSource, for kind: StreamKind, loaded began: Duration) {
        let reference = streams[.main].timeline ?? streams[kind].timeline
        let timeline: PresentationTimeline
        if let reference, kind != .main || streams[.main].timeline != nil {
            let age = standstill(of: streams[.main].timeline == nil ? kind : .main)
            timeline = PresentationTimeline(
                playlist,
                alignment: TimelineAlignment(of: playlist, to: reference, age: age)
            )
        } else {
            timeline = PresentationTimeline(playlist)
        }
        streams[kind].source = source
        streams[kind].timelineSource = source
        streams[kind].timeline = timeline
        streams[kind].timelineLoaded = began
        streams[kind].lastNews = began
        var schedule = ReloadSchedule()
        streams[kind].reload = schedule.loaded(playlist, began: began, at: time.now)
        streams[kind].schedule = schedule
        if !timeline.isLive { knownTimelines.insert(timeline, for: source, cost: timeline.byteCount) }
        if kind == .main {
            if playbackType == nil {
                playbackType = timeline.isLive ? .live : .vod
                report(.playbackTypeKnown(timeline.isLive ? .live : .vod))
            }
            collectDateRanges()
            updateWindow()
            placePlayhead(in: timeline)
        }
        collectBorders()
        changes.notify()
    }

    /// How long a live playlist has had nothing new, where that is longer than it may be.
    private func standstill(of kind: StreamKind) -> Duration {
        guard let timeline = streams[kind].timeline, timeline.isLive, let lastNews = streams[kind].lastNews else {
            return .zero
        }
        let age = time.now - lastNews
        return age > timeline.targetDuration.duration * 3 / 2 ? age : .zero
    }

    /// Where playing begins is known with the first playlist.
    func placePlayhead(in timeline: PresentationTimeline) {
        guard !isPositioned, !timeline.segments.isEmpty else { return }
        guard pendingSeek == nil else { return clampPendingSeek() }
        let start = StartPosition(
            in: timeline,
            declared: presentation?.start,
            liveOffset: options.timeOffsetFromLive
        )
        if let asked = startTime(in: timeline) {
            _ = beginSeek(to: asked, tolerance: .exact, isStart: true)
        } else {
            _ = beginSeek(to: start.time, tolerance: start.isPrecise ? .exact : .any, isStart: true)
        }
    }

    /// Where it was asked to begin.
    private func startTime(in timeline: PresentationTimeline) -> MediaTime? {
        if let date = dateToBeginAt, let found = timeline.position(of: date) { return found.time }
        return options.startTime ?? options.startDate.flatMap { timeline.position(of: $0)?.time }
    }

    /// Loads a playlist that is wanted and not there.
    func loadTimeline(_ source: StreamSource, for kind: StreamKind) async {
        if let known = knownTimelines.value(for: source), streams[.main].timeline != nil || kind == .main {
            streams[kind].timelineSource = source
            streams[kind].timeline = known
            streams[kind].reload = nil
            if kind == .main { collectDateRanges() }
            collectBorders()
            changes.notify()
            return
        }
        let began = time.now
        let request = TransportRequest(source.address, kind: .playlist)
        do {
            let playlist = try await load(request, for: kind)
            // Sound is placed beside the pictures; those may still be on their way.
            while kind != .main, streams[.main].timeline == nil {
                await changes.wait(after: changes.count)
                try Task.checkCancellation()
            }
            guard streams[kind].source == source else { return }
            // Where it lies on the timeline cannot be told of one that stands still: it would pass for new.
            if let end = stuckPlaylists[source], playlist.segmentSequences.upperBound <= end {
                throw StreamingError(.stuck, "the live playlist still has nothing new", address: source.address)
            }
            stuckPlaylists[source] = nil
            try Self.check(playlist, at: source.address)
            adopt(playlist, from: source, for: kind, loaded: began)
        } catch is CancellationError {
            return
        } catch {
            guard streams[kind].source == source else { return }
            timelineFailed(source, for: kind, error as? StreamingError ?? StreamingError(.notLoaded, "\(error)"))
        }
    }

    /// - Throws: Where there will never be anything to play.
    static func check(_ playlist: MediaPlaylist, at address: ResourceAddress) throws(StreamingError) {
        guard playlist.segmentSequences.isEmpty, !playlist.isLive else { return }
        throw StreamingError(.unreadablePlaylist, "the playlist lists no segments, and has ended", address: address)
    }

    /// Loads and reads a media playlist.
    private func load(
        _ request: TransportRequest,
        for kind: StreamKind
    ) async throws -> MediaPlaylist {
        let began = time.now
        do {
            let fetched = try await fetch.load(request, limit: ResourceLoading.playlistLimit)
            var made = ResourceRequest(.mediaPlaylist, request, fetched)
            made.mediaType = mediaType(of: kind)
            report(.resourceRequest(made))
            let context = PlaylistContext(
                address: fetched.address,
                importableVariables: presentation?.variables ?? [:]
            )
            guard
                case .media(let playlist) = try Playlist.parse(Array(fetched.bytes.readableBytesView), context: context)
            else {
                throw StreamingError(
                    .unreadablePlaylist,
                    "a media playlist was expected, and a multivariant playlist came",
                    address: request.address
                )
            }
            return playlist
        } catch let error as TransportError {
            report(.resourceRequest(ResourceRequest(.mediaPlaylist, request, began: began, now: time.now, error)))
            throw StreamingError(error, "a media playlist")
        } catch let error as PlaylistParsingError {
            throw StreamingError(.unreadablePlaylist, "\(error)", address: request.address, cause: error)
        }
    }

    private func timelineFailed(_ source: StreamSource, for kind: StreamKind, _ error: StreamingError) {
        excluded[source] = time.now + Self.exclusionDuration
        if kind == .main, !isScanning, streams[.main].timelineSource != nil, streams[.main].timelineSource != source,
            let change = streams[.main].switching, change.to.id == source.variantID?.text
        {
            report(.variantSwitched(change, succeeded: false))
            streams[.main].switching = nil
        }
        guard goElsewhere(kind, besides: source, cause: "playlist-failed") else {
            if kind == .main, streams[.main].timelineSource != nil, streams[.main].timelineSource != source {
                // What was played before the switch still can be.
                revertSwitch(error)
            } else if kind == .main, error.code == .unreachable, let wait = playlistPatience(.main) {
                streams[.main].pausedUntil = time.now + wait
                fail(error, recovered: true)
            } else if kind == .main {
                fail(error)
            } else {
                fail(error, recovered: true)
                drop(kind)
            }
            return
        }
        fail(error, recovered: true)
    }

    /// How long to wait before nothing that answers is asked again; `nil` where it was long enough.
    private func playlistPatience(_ kind: StreamKind) -> Duration? {
        let verdict = streams[kind].recovery.failed(
            .unreachable,
            at: .zero,
            hasAlternatives: false,
            isLive: true,
            patience: options.patience,
            now: time.now
        )
        guard case .retry(let wait) = verdict else { return nil }
        return wait
    }

    private func revertSwitch(_ error: StreamingError) {
        guard let previous = streams[.main].timelineSource else { return }
        if let change = streams[.main].switching { report(.variantSwitched(change, succeeded: false)) }
        streams[.main].switching = nil
        streams[.main].source = previous
        applyRenditions()
        fail(error, recovered: true)
        changes.notify()
    }

    /// Goes on without sound or text that cannot be had.
    func drop(_ kind: StreamKind) {
        // Sound that comes with the pictures soon anyway is only missing until then.
        if kind == .audio, endOfSound != nil { return leaveSoundToPictures() }
        streams[kind].source = nil
        streams[kind].doom = nil
        let type: Rendition.MediaType = kind == .audio ? .audio : .subtitles
        selection[type] = nil
        report(
            .selectionChanged(
                SelectionChange(mediaType: mediaType(of: kind), option: nil, isExplicit: false)
            )
        )
        updateTracks()
        changes.notify()
    }

    /// Fetches a stream from another place from now on: the same elsewhere, before another quality.
    ///
    /// - Returns: Whether there is one.
    func goElsewhere(_ kind: StreamKind, besides failed: StreamSource, cause: String) -> Bool {
        guard kind == .main else { return useOtherRendition(kind, besides: failed) }
        guard let presentation else { return false }
        if isScanning {
            // What is fetched usually will do for fast motion, too.
            excluded[failed] = time.now + Self.exclusionDuration
            changes.notify()
            return true
        }
        let closed = streams[kind].tried.sources
        func isOpen(_ source: StreamSource) -> Bool {
            source != failed && !closed.contains(source) && !isExcluded(source)
        }
        let current = failed.variantID.flatMap { presentation.variant($0) }
        if let other = current.map({ sources(of: $0) })?.first(where: isOpen) {
            streams[.main].source = other
            streams[.main].isDecided = true
            applyRenditions()
            changes.notify()
            return true
        }
        // What cannot be passed to unnoticed is better than nothing.
        let strangers = presentation.variants(for: selection).filter { !chooser.holds($0) }
        for variant in chooser.alternatives(to: current) + strangers where variant.id != current?.id {
            let source = source(for: variant)
            guard isOpen(source) else { continue }
            streams[.main].source = source
            // What is asked for now was decided here: the selector would choose what has just failed.
            streams[.main].isDecided = true
            beginSwitch(to: variant, cause: cause)
            applyRenditions()
            changes.notify()
            return true
        }
        return false
    }

    /// Keeps the playlist of a live stream fresh.
    func reloadLoop(_ kind: StreamKind) async {
        let stream = streams[kind]
        while !Task.isCancelled, failure == nil {
            let seen = changes.count
            guard stream.source != nil, let reload = stream.dueReload else {
                await stream.needs.wait(after: stream.needs.count)
                continue
            }
            guard stream.timelineSource == stream.source, mayUseNetwork else {
                await changes.wait(after: seen)
                continue
            }
            guard time.now >= reload.time else {
                await changes.wait(after: seen, until: reload.time, time)
                continue
            }
            await self.reload(kind, reload)
        }
    }

    /// Whether bytes may be fetched: also while it is paused, unless the application says otherwise.
    private var mayUseNetwork: Bool {
        options.usesNetworkWhilePaused || options.isHeld || machine.desiredRate != 0 || !machine.isReady
            || playbackType != .live
    }

    private func reload(_ kind: StreamKind, _ reload: ReloadSchedule.Reload) async {
        guard let source = streams[kind].source else { return }
        let began = time.now
        // Parts are not fetched one by one: the whole segments at the edge will do.
        let request = TransportRequest(reload.directives.applied(to: source.address), kind: .playlist)
        do {
            let playlist = try await load(request, for: kind)
            guard streams[kind].source == source, streams[kind].timelineSource == source else { return }
            take(playlist, for: kind, began: began)
        } catch is CancellationError {
            return
        } catch {
            guard streams[kind].source == source else { return }
            let error = error as? StreamingError ?? StreamingError(.notLoaded, "\(error)")
            let retryAfter = (error.cause as? TransportError)?.retryAfter
            let action = streams[kind].schedule.failed(began: began, at: time.now, retryAfter: retryAfter)
            streams[kind].reload = action
            fail(error, recovered: true)
            act(on: action, for: kind, error)
        }
        changes.notify()
    }

    private func take(_ playlist: MediaPlaylist, for kind: StreamKind, began: Duration) {
        do {
            guard let update = try streams[kind].timeline?.update(playlist), let timeline = streams[kind].timeline
            else { return }
            streams[kind].timelineLoaded = began
            if update.hasNews { streams[kind].lastNews = began }
            if kind == .main { collectDateRanges() }
            collectBorders()
            let action = streams[kind].schedule.loaded(
                timeline.playlist,
                began: began,
                at: time.now,
                hasRestarted: update.hasRestarted
            )
            streams[kind].reload = action
            if kind == .main { updateWindow() }
            let stuck = StreamingError(
                .stuck,
                "the live playlist has had nothing new for too long",
                address: streams[kind].source?.address
            )
            act(on: action, for: kind, stuck)
        } catch {
            let action = streams[kind].schedule.deltaRefused(began: began, at: time.now)
            streams[kind].reload = action
        }
    }

    private func act(on action: ReloadSchedule.Action?, for kind: StreamKind, _ error: StreamingError) {
        guard let source = streams[kind].source else { return }
        if error.code == .stuck, let timeline = streams[kind].timeline, action?.isTrouble == true {
            stuckPlaylists[source] = timeline.sequences.upperBound
        }
        switch action {
        case .stuck:
            if goElsewhere(kind, besides: source, cause: "playlist-stuck") {
                excluded[source] = time.now + Self.exclusionDuration
                if error.code == .stuck { fail(error, recovered: true) }
            } else if kind == .audio, isLeftBehind(kind), ahead < .seconds(1) {
                // The pictures go on; waiting for sound would stop them.
                fail(error, recovered: true)
                drop(kind)
            }
        case .abandon:
            excluded[source] = time.now + Self.exclusionDuration
            if goElsewhere(kind, besides: source, cause: "playlist-stuck") { return }
            if kind == .main {
                fail(error)
            } else {
                fail(error, recovered: true)
                drop(kind)
            }
        case .reload, .finish, nil: break
        }
    }

    /// Whether a stream holds up the main one, which has more to play.
    private func isLeftBehind(_ kind: StreamKind) -> Bool {
        guard let own = streams[kind].timeline, let main = streams[.main].timeline else { return false }
        return main.end - own.end > main.targetDuration
    }

    /// Takes over the date ranges of a playlist that was just loaded.
    private func collectDateRanges() {
        guard !isScanning, let timeline = streams[.main].timeline else { return }
        dateRanges = TimedDateRange.ranges(of: timeline)
        let classes = [Interstitial.classIdentifier, DateRangePreload.classIdentifier]
        interstitialRanges = dateRanges.filter { range in range.classIdentifier.map(classes.contains) ?? false }
    }

    /// Takes over where the segments meet of a playlist that was just loaded.
    private func collectBorders() {
        let timelines = requiredStreams.compactMap { wholeTimeline(of: $0) }
        segmentBorders = SegmentBorders(timelines, revision: segmentBorders.revision + 1)
    }

    /// What can be sought, and where the live edge is.
    func updateWindow() {
        guard let timeline = streams[.main].timeline else { return }
        let window = timeline.liveWindow
        if timeline.isLive, recommendedOffset != window.holdBack { recommendedOffset = window.holdBack }
        if !timeline.isLive { recommendedOffset = nil }
        let range = timeline.segments.isEmpty ? nil : window.seekable
        guard range != seekableRange else { return }
        seekableRange = range
        report(.seekableRangeChanged(range))
    }

    /// Where the live edge is, as it moves on until the playlist says it anew; `nil` of what is not live.
    var liveEdge: Timebase? {
        let stream = streams[.main]
        guard let timeline = stream.timeline, timeline.isLive,
            let loaded = stream.timelineLoaded
        else { return nil }
        return Timebase(mediaTime: timeline.end, time: loaded, rate: 1)
    }
}

extension ReloadSchedule.Action {
    /// Whether the playlist does not go on as it should.
    fileprivate var isTrouble: Bool {
        switch self {
        case .stuck, .abandon: true
        case .reload, .finish: false
        }
    }
}

extension StreamState {
    /// The load of the playlist that comes next.
    var dueReload: ReloadSchedule.Reload? {
        switch reload {
        case .reload(let reload), .stuck(let reload): reload
        case .finish, .abandon, nil: nil
        }
    }
}
