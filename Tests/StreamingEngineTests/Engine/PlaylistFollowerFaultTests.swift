import HLSPlaylist
import MediaTiming
import MediaTransport
import PlaybackReporting
import ResourceAddressing
import Testing

@testable import StreamingEngine

/// Tests of the first loads of playlists: their requests, their failures, and playlists that have nothing new.
@Suite struct PlaylistFollowerFaultTests {
    private static var finished: MediaPlaylist {
        get throws { try LiveWindowText(tail: ["#EXT-X-ENDLIST"]).playlist }
    }

    // MARK: Requests

    @Test func aPlaylistInMemoryIsNotReloaded() throws {
        var stage = try FollowerStage()
        _ = stage.adopt(try Self.finished, from: stage.high)
        #expect(stage.plan.tracks.main.source == stage.high)
        _ = stage.adopt(try LiveWindowText().playlist, from: stage.low)
        #expect(stage.plan.tracks.main.source == stage.low && stage.reloadTime() == .seconds(13))
        stage.plan.tracks.main.source = stage.high
        _ = stage.sink.takeChange()
        let isKnown = stage.load(stage.high)
        let isChanged = stage.sink.takeChange()
        #expect(isKnown && isChanged && stage.reloadTime() == nil)
        // Audio may use a playlist in memory as soon as the main track has one.
        let isKnownToAudio = stage.load(stage.high, for: .audio)
        #expect(isKnownToAudio && stage.plan.tracks.audio.playlistSource == stage.high)
    }

    @Test func sixtyFourPlaylistsAreInMemory() throws {
        var stage = try FollowerStage()
        let playlist = try Self.finished
        let sources = (0..<65).map { number in
            StreamSource(
                identity: stage.low.identity,
                address: ResourceAddress("https://example.com/\(number).m3u8")
            )
        }
        for source in sources { _ = stage.adopt(playlist, from: source) }
        let known = sources.map { stage.follower.knownTimeline(of: $0) != nil }
        #expect(known.firstIndex(of: true) == 1 && known.count { $0 } == 64)
    }

    @Test func theFirstRequestOfAnotherPlaylistNamesNoPart() throws {
        var stage = try FollowerStage()
        let window = LiveWindowText(
            head: ["#EXT-X-SERVER-CONTROL:CAN-BLOCK-RELOAD=YES"],
            tail: ["#EXT-X-RENDITION-REPORT:URI=\"/high.m3u8\",LAST-MSN=7,LAST-PART=2"]
        )
        _ = stage.adopt(try window.playlist, from: stage.low)
        _ = stage.effects()
        _ = stage.load(stage.high)
        let requests = stage.effects()
        #expect(requests == ["load 1 high.m3u8?_HLS_msn=7"])
    }

    @Test func onlyTheMainTrackHasASubstitute() throws {
        func substitute(_ load: PlaylistLoad) -> StreamSource? {
            guard case .loading(let request) = load else { return nil }
            return request.substitute?.source
        }
        var stage = try FollowerStage()
        _ = stage.adopt(try Self.finished, from: stage.low)
        _ = stage.load(stage.high)
        _ = stage.load(stage.high, for: .audio)
        #expect(substitute(stage.plan.tracks.main.load) == stage.low)
        #expect(stage.plan.tracks.audio.isLoadingPlaylist && substitute(stage.plan.tracks.audio.load) == nil)
    }

    @Test(
        arguments: [(nil, false, "muxed"), ("lost", false, "none"), (nil, true, "none")] as [(String?, Bool, String)]
    )
    func onlyAnAnswerHasAMediaType(failure: String?, wasAbandoned: Bool, type: String) throws {
        var request = ResourceRequest(
            kind: .mediaPlaylist,
            address: "low.m3u8",
            requestStart: .zero,
            responseStart: nil,
            responseEnd: .zero,
            bytes: .zero
        )
        request.failure = failure
        request.wasAbandoned = wasAbandoned
        var stage = try FollowerStage()
        _ = stage.load(stage.low)
        _ = stage.effects()
        _ = stage.receive(try FollowerStage.window(), for: 1, request)
        let first = stage.effects()
        _ = stage.answerReload(at: 14, try FollowerStage.window(), request)
        let second = stage.effects()
        #expect(first.first == "request \(type)" && second == ["request \(type)"])
    }

    // MARK: Adoption

    @Test func thePlaylistOfAudioDoesNotDetermineTheItem() throws {
        var stage = try FollowerStage()
        let outcome = stage.adopt(try LiveWindowText().playlist, from: stage.audio, for: .audio)
        let reports = stage.effects()
        #expect(outcome == "none" && reports.isEmpty && stage.follower.playbackType == nil)
        #expect(stage.live.seekableRange == nil && stage.plan.tracks.audio.source == stage.audio)
        let mainOutcome = stage.adopt(try LiveWindowText().playlist, from: stage.low)
        let mainReports = stage.effects()
        #expect(mainOutcome == "loaded" && mainReports == ["playbackType", "seekableRange"])
        #expect(stage.follower.playbackType == .live && stage.live.seekableRange != nil)
    }

    @Test func aNewPlaylistHasNewReloads() throws {
        var stage = try FollowerStage()
        for _ in 0..<2 {
            stage.plan.tracks.main.reloads.failure = "it failed"
            _ = stage.sink.takeChange()
            _ = stage.adopt(try LiveWindowText().playlist, from: stage.low)
            let isChanged = stage.sink.takeChange()
            // The same playlist again would be reloaded earlier.
            #expect(isChanged && stage.reloadTime() == .seconds(13))
            #expect(stage.plan.tracks.main.reloads.failure == nil)
        }
    }

    @Test func anAdoptedPlaylistShowsThatItsAddressIsValid() throws {
        var stage = try FollowerStage()
        stage.plan.catalog.renewal.enable()
        let first = stage.renew()
        let second = stage.renew()
        _ = stage.adopt(try Self.finished, from: stage.low)
        let third = stage.renew()
        #expect(first && !second && third)
    }

    /// The numbers of the playlists differ, so that their live edges are compared.
    @Test(arguments: [TrackKind.main, .audio])
    func theEdgeOfAPlaylistThatStandsStillIsBehind(kind: TrackKind) throws {
        var stage = try FollowerStage()
        _ = stage.adopt(try LiveWindowText().playlist, from: kind == .main ? stage.low : stage.audio, for: kind)
        stage.plan.tracks[kind].playlist?.lastUpdate = .zero
        stage.now = .seconds(60)
        _ = stage.adopt(try LiveWindowText(first: 100).playlist, from: stage.audio, for: .audio)
        #expect(stage.plan.tracks.audio.timeline?.start == MediaTime(seconds: 60))
    }

    @Test func aLoadThatWaitsForTheMainTrackChangesNothing() throws {
        var stage = try FollowerStage()
        let outcome = stage.answerLoad(of: stage.audio, for: .audio, try FollowerStage.window())
        let isChanged = stage.sink.takeChange()
        let moment = stage.moment
        _ = stage.follower.resumeLoad(for: .audio, &stage.plan, &stage.live, moment, &stage.sink)
        let isChangedAgain = stage.sink.takeChange()
        #expect(outcome == "none" && isChanged && !isChangedAgain && stage.plan.tracks.audio.isLoadingPlaylist)
    }

    // MARK: Failures

    @Test func theOnlyPlaylistIsRequestedAgainIfTheServerIsUnreachable() throws {
        var stage = try FollowerStage(isAlone: true)
        let outcome = stage.answerLoad(of: stage.low, FollowerStage.failure(.cannotConnect))
        let isChanged = stage.sink.takeChange()
        let reports = stage.effects()
        #expect(outcome == "none" && isChanged && reports == ["error"])
        #expect(stage.plan.tracks.main.failures.retryTime == .seconds(11))
        #expect(!stage.plan.tracks.main.isLoadingPlaylist && stage.plan.catalog.isExcluded(stage.low, at: stage.now))
    }

    @Test func theOnlyPlaylistIsRequired() throws {
        var stage = try FollowerStage(isAlone: true)
        let missing = stage.answerLoad(of: stage.low, FollowerStage.failure(status: 404))
        let reports = stage.effects()
        #expect(missing == "fail not-loaded" && reports.isEmpty)
        let ended = LiveWindowText(count: 0, tail: ["#EXT-X-ENDLIST"])
        let empty = stage.answerLoad(of: stage.low, .success(try ended.playlist))
        #expect(empty == "fail unreadable-playlist" && stage.plan.tracks.main.playlist == nil)
    }

    /// A switch fails only if there is a playlist that is played instead.
    @Test(arguments: [false, true]) func anotherVariantReplacesOneThatCannotBeLoaded(hasPlaylist: Bool) throws {
        var stage = try FollowerStage()
        if hasPlaylist { _ = stage.adopt(try Self.finished, from: stage.low) }
        try stage.beginSwitch(to: stage.high)
        let outcome = stage.answerLoad(of: stage.high, FollowerStage.failure(status: 404))
        let reports = stage.effects()
        #expect(outcome == "none" && stage.plan.tracks.main.source == stage.low)
        let expected: [String] = hasPlaylist ? ["failed switch"] : []
        #expect(reports == expected + ["switch playlist-failed", "error"])
    }

    @Test func theFailureOfThePlaylistThatIsPlayedEndsNoSwitch() throws {
        var stage = try FollowerStage()
        _ = stage.adopt(try LiveWindowText().playlist, from: stage.high)
        try stage.beginSwitch(to: stage.high)
        let outcome = stage.answerLoad(of: stage.high, FollowerStage.failure(status: 404))
        let reports = stage.effects()
        #expect(outcome == "none" && reports == ["switch playlist-failed", "error"])
    }

    @Test func theFormerVariantIsPlayedIfThereIsNoOther() throws {
        var stage = try FollowerStage()
        _ = stage.adopt(try Self.finished, from: stage.low)
        stage.plan.tracks.main.failures.tried = [stage.low]
        try stage.beginSwitch(to: stage.high)
        let outcome = stage.answerLoad(of: stage.high, FollowerStage.failure(status: 404))
        let reports = stage.effects()
        #expect(outcome == "none" && reports == ["failed switch", "error"])
        #expect(stage.plan.tracks.main.source == stage.low && stage.plan.tracks.main.failures.retryTime == nil)
    }

    @Test func theFailureOfAnIFramePlaylistEndsNoSwitch() throws {
        var stage = try FollowerStage()
        _ = stage.adopt(try Self.finished, from: stage.low)
        stage.plan.tracks.trickPlay = .on(TrickPlay.Return(source: stage.low, timeline: nil))
        try stage.beginSwitch(to: stage.high)
        let outcome = stage.answerLoad(of: stage.high, FollowerStage.failure(status: 404))
        let reports = stage.effects()
        #expect(outcome == "none" && reports == ["error"] && stage.plan.tracks.main.source == stage.high)
    }

    @Test(arguments: [false, true]) func audioThatCannotBeLoadedIsDropped(isTrickPlay: Bool) throws {
        var stage = try FollowerStage()
        _ = stage.adopt(try Self.finished, from: stage.low)
        if isTrickPlay {
            stage.plan.tracks.trickPlay = .on(TrickPlay.Return(source: stage.low, timeline: nil))
        }
        let outcome = stage.answerLoad(of: stage.audio, for: .audio, FollowerStage.failure(status: 404))
        let reports = stage.effects().filter { $0 != "trackChange" }
        #expect(outcome == "none" && reports == ["error", "selectionChange"])
        #expect(stage.plan.tracks.audio.source == nil && stage.plan.catalog.selection[.audio] == nil)
    }

    @Test func theFailureOfAFormerSourceIsIgnored() throws {
        var stage = try FollowerStage()
        _ = stage.load(stage.low)
        _ = stage.effects()
        stage.plan.tracks.main.source = stage.high
        let outcome = stage.receive(FollowerStage.failure(status: 404), for: 1)
        let reports = stage.effects()
        #expect(outcome == "none" && reports.isEmpty && !stage.plan.tracks.main.isLoadingPlaylist)
        #expect(!stage.plan.catalog.isExcluded(stage.low, at: stage.now) && stage.plan.tracks.main.source == stage.high)
    }

    @Test func addressesAreRenewedBeforeAnotherVariantIsTried() throws {
        var stage = try FollowerStage()
        stage.plan.catalog.renewal.enable()
        let outcome = stage.answerLoad(of: stage.low, FollowerStage.failure(status: 403))
        let effects = stage.effects()
        #expect(outcome == "none" && effects == ["reopen 2", "error"])
        #expect(stage.plan.tracks.main.source == stage.low)
        #expect(!stage.plan.catalog.isExcluded(stage.low, at: stage.now))
    }

    @Test func aPlaylistWithoutTagsIsUnreadable() throws {
        var stage = try FollowerStage(isAlone: true)
        let outcome = stage.answerLoad(of: stage.low, .success(try media("#EXTM3U\n#EXT-X-VERSION:3\n")))
        #expect(outcome == "fail unreadable-playlist" && stage.plan.tracks.main.playlist == nil)
    }
}
