import HLSPlaylist
import MediaTiming
import MediaTransport
import PlaybackReporting
import Testing

@testable import StreamingEngine

/// Tests of the reloads of a live playlist of segments of 4 s that was requested at 9 s and received at 10 s.
@Suite struct PlaylistReloadFaultTests {
    private func liveStage(isAlone: Bool = false) throws -> FollowerStage {
        var stage = try FollowerStage(isAlone: isAlone)
        _ = stage.adopt(try LiveWindowText().playlist, from: stage.low)
        _ = stage.effects()
        return stage
    }

    // MARK: Requests

    @Test func aPlaylistIsReloadedOnceAtItsTime() throws {
        var stage = try liveStage()
        stage.now = .milliseconds(12_999)
        stage.beginReload()
        let early = stage.effects()
        stage.now = .seconds(13)
        stage.beginReload()
        let due = stage.effects()
        stage.beginReload()
        let again = stage.effects()
        #expect(early.isEmpty && due == ["load 1 low.m3u8"] && again.isEmpty)
        let request = try #require(stage.plan.tracks.main.reloads.inProgress)
        #expect(request.began == .seconds(13) && request.source == stage.low && request.substitute == nil)
    }

    // MARK: Responses

    @Test func aReloadUpdatesThePlaylist() throws {
        var stage = try liveStage()
        stage.plan.tracks.main.reloads.failure = "it failed"
        let outcome = stage.answerReload(at: 13, end: 14, try FollowerStage.window(7))
        let isChanged = stage.sink.takeChange()
        let reports = stage.effects()
        #expect(outcome == "none" && isChanged && reports == ["seekableRange"])
        let playlist = try #require(stage.plan.tracks.main.playlist)
        #expect(playlist.requestStart == .seconds(13) && playlist.lastUpdate == .seconds(13))
        #expect(playlist.timeline.end == MediaTime(seconds: 28) && stage.reloadTime() == .seconds(17))
        #expect(stage.plan.tracks.main.reloads.failure == nil && stage.plan.tracks.main.source == stage.low)
        #expect(stage.follower.contents.segmentBoundaries.revision == 2)
    }

    @Test func aReloadWithoutNewSegmentsIsRepeatedEarlier() throws {
        var stage = try liveStage()
        let outcome = stage.answerReload(at: 13, try FollowerStage.window())
        let reports = stage.effects()
        let playlist = try #require(stage.plan.tracks.main.playlist)
        #expect(outcome == "none" && reports.isEmpty && stage.reloadTime() == .seconds(15))
        #expect(playlist.requestStart == .seconds(13) && playlist.lastUpdate == .seconds(9))
    }

    @Test func afterASlowReloadTheNextOneIsDueAtOnce() throws {
        var stage = try liveStage()
        _ = stage.answerReload(at: 13, end: 20, try FollowerStage.window(7))
        #expect(stage.reloadTime() == .seconds(20))
    }

    @Test func aReloadShowsThatTheAddressIsValid() throws {
        var stage = try liveStage()
        stage.plan.catalog.renewal.enable()
        let first = stage.renew()
        let second = stage.renew()
        _ = stage.answerReload(at: 13, try FollowerStage.window(7))
        let third = stage.renew()
        #expect(first && !second && third)
    }

    /// The source, or the playlist, is another one when the response comes.
    @Test(arguments: [false, true]) func theReloadOfAFormerPlaylistIsIgnored(isPlaylist: Bool) throws {
        var stage = try liveStage()
        stage.now = .seconds(13)
        stage.beginReload()
        _ = stage.effects()
        if isPlaylist {
            let timeline = try #require(stage.plan.tracks.main.timeline)
            stage.plan.tracks.main.playlist = LoadedPlaylist(
                source: stage.high,
                timeline: timeline,
                requestStart: .zero,
                lastUpdate: .zero
            )
        } else {
            stage.plan.tracks.main.source = stage.high
        }
        _ = stage.sink.takeChange()
        let outcome = stage.receive(try FollowerStage.window(7), for: 1)
        let isChanged = stage.sink.takeChange()
        let reports = stage.effects()
        #expect(outcome == "none" && isChanged && reports.isEmpty)
        #expect(stage.plan.tracks.main.timeline?.end == MediaTime(seconds: 24))
        #expect(stage.plan.tracks.main.reloads.inProgress == nil)
    }

    // MARK: Failures

    @Test func aFailedReloadIsRepeated() throws {
        var stage = try liveStage()
        let outcome = stage.answerReload(at: 13, end: 14, FollowerStage.failure(status: 503))
        let isChanged = stage.sink.takeChange()
        let reports = stage.effects()
        #expect(outcome == "none" && isChanged && reports == ["error"] && stage.reloadTime() == .seconds(16))
        #expect(stage.plan.tracks.main.reloads.failure == "a media playlist could not be loaded: it failed")
        #expect(!stage.plan.catalog.isExcluded(stage.low, at: stage.now) && stage.plan.tracks.main.source == stage.low)
        let playlist = try #require(stage.plan.tracks.main.playlist)
        #expect(playlist.requestStart == .seconds(9) && playlist.lastUpdate == .seconds(9))
        _ = stage.answerReload(at: 16, FollowerStage.failure(status: 503, retryAfter: .seconds(9)))
        #expect(stage.reloadTime() == .seconds(25))
    }

    @Test func addressesAreRenewedAfterADeniedReload() throws {
        var stage = try liveStage()
        stage.plan.catalog.renewal.enable()
        let outcome = stage.answerReload(at: 13, FollowerStage.failure(status: 403))
        let effects = stage.effects()
        #expect(outcome == "none" && effects == ["reopen 2", "error"])
    }

    @Test func aDeltaUpdateThatDoesNotFitIsRepeatedSoon() throws {
        var stage = try liveStage()
        let delta = LiveWindowText(first: 20, count: 4, head: ["#EXT-X-SKIP:SKIPPED-SEGMENTS=6"])
        let outcome = stage.answerReload(at: 13, end: 14, .success(try delta.playlist))
        let reports = stage.effects()
        #expect(outcome == "none" && reports.isEmpty && stage.reloadTime() == .seconds(14))
        let playlist = try #require(stage.plan.tracks.main.playlist)
        #expect(playlist.timeline.end == MediaTime(seconds: 24) && playlist.requestStart == .seconds(9))
        let last = stage.answerReload(at: 20, .success(try delta.playlist))
        let lastReports = stage.effects()
        #expect(last == "none" && lastReports == ["switch playlist-stuck", "error"])
    }

    @Test func aPlaylistThatIsTooLargeIsNotReloaded() throws {
        var stage = try liveStage(isAlone: true)
        let outcome = stage.answerReload(at: 13, FollowerStage.failure(.tooLarge))
        let reports = stage.effects()
        #expect(outcome == "fail not-loaded" && reports == ["error"])
    }

    // MARK: Stuck playlists

    @Test func aStuckPlaylistIsReplacedUntilItHasNewSegments() throws {
        var stage = try liveStage()
        let outcome = stage.answerReload(at: 20, try FollowerStage.window())
        let reports = stage.effects()
        #expect(outcome == "none" && reports == ["switch playlist-stuck", "error"])
        #expect(stage.plan.tracks.main.source == stage.high && stage.plan.catalog.isExcluded(stage.low, at: stage.now))
        let same = stage.answerLoad(of: stage.low, try FollowerStage.window())
        let sameReports = stage.effects()
        #expect(same == "none" && sameReports == ["switch playlist-failed", "error"])
        #expect(stage.plan.tracks.main.source == stage.high)
        // The record ends with new segments.
        let newer = stage.answerLoad(of: stage.low, try FollowerStage.window(7))
        let older = stage.answerLoad(of: stage.low, try FollowerStage.window())
        #expect(newer == "loaded" && older == "loaded")
    }

    @Test func onlyAResponseShowsThatAPlaylistIsStuck() throws {
        var stage = try liveStage()
        let outcome = stage.answerReload(at: 20, FollowerStage.failure(status: 503))
        let reports = stage.effects()
        #expect(outcome == "none" && reports == ["error", "switch playlist-stuck"])
        let same = stage.answerLoad(of: stage.low, try FollowerStage.window())
        #expect(same == "loaded")
    }

    @Test func aStuckPlaylistIsReloadedIfThereIsNoOther() throws {
        var stage = try liveStage(isAlone: true)
        let outcome = stage.answerReload(at: 20, try FollowerStage.window())
        let reports = stage.effects()
        #expect(outcome == "none" && reports.isEmpty && stage.reloadTime() == .seconds(22))
        #expect(!stage.plan.catalog.isExcluded(stage.low, at: stage.now))
    }

    @Test func aPlaylistWithoutUpdatesIsAbandoned() throws {
        var alone = try liveStage(isAlone: true)
        let end = alone.answerReload(at: 60, try FollowerStage.window())
        let reports = alone.effects()
        #expect(end == "fail stuck" && reports.isEmpty && alone.reloadTime() == nil)
        var stage = try liveStage()
        let outcome = stage.answerReload(at: 60, try FollowerStage.window())
        let switches = stage.effects()
        #expect(outcome == "none" && switches == ["switch playlist-stuck"])
        #expect(stage.plan.tracks.main.source == stage.high)
    }

    @Test func aStuckIFramePlaylistIsReported() throws {
        var stage = try liveStage()
        stage.plan.tracks.trickPlay = .on(TrickPlay.Return(source: stage.low, timeline: nil))
        let outcome = stage.answerReload(at: 20, try FollowerStage.window())
        let reports = stage.effects()
        #expect(outcome == "none" && reports == ["error"] && stage.plan.tracks.main.source == stage.low)
        #expect(stage.plan.catalog.isExcluded(stage.low, at: stage.now))
    }

    /// The audio has 24 s; the buffer is that of both tracks, in milliseconds.
    @Test(arguments: [(8, 900, true), (8, 1_000, false), (7, 900, false)] as [(Int, Int64, Bool)])
    func stuckAudioThatDelaysVideoIsDropped(mainCount: Int, buffered: Int64, isDropped: Bool) throws {
        var stage = try liveStage()
        _ = stage.adopt(try LiveWindowText().playlist, from: stage.audio, for: .audio)
        _ = stage.answerReload(at: 13, try FollowerStage.window(mainCount))
        let range = MediaTimeRange(start: .zero, end: MediaTime(value: buffered, timescale: 1_000))
        stage.plan.tracks.main.buffer.insert(
            StreamBuffer.Entry(range: range, type: .video, byteCount: 1, variant: nil)
        )
        stage.plan.tracks.audio.buffer.insert(
            StreamBuffer.Entry(range: range, type: .audio, byteCount: 1, variant: nil)
        )
        let outcome = stage.answerReload(.audio, at: 20, try FollowerStage.window())
        let reports = stage.effects().filter { $0 != "trackChange" }
        let expected: [String] = isDropped ? ["error", "selectionChange"] : []
        #expect(outcome == "none" && reports == expected)
        #expect((stage.plan.tracks.audio.source == nil) == isDropped)
    }

    @Test func audioWithoutUpdatesIsDropped() throws {
        var stage = try liveStage()
        _ = stage.adopt(try LiveWindowText().playlist, from: stage.audio, for: .audio)
        let outcome = stage.answerReload(.audio, at: 60, try FollowerStage.window())
        let reports = stage.effects().filter { $0 != "trackChange" }
        #expect(outcome == "none" && reports == ["error", "selectionChange"])
        #expect(stage.plan.tracks.audio.source == nil && stage.plan.tracks.main.source == stage.low)
    }
}
