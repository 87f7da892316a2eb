import HLSPlaylist
import MediaTiming
import MediaTransport
import PlaybackReporting
import Testing

@testable import StreamingEngine

// MARK: - Start and end

extension EngineScenario {
    static let start: [EngineScenario] = [
        EngineScenario("an item is played") { $0.playVOD(until: 8) },
        EngineScenario("an item that is paused fills its buffer") { session in
            session.playlists["v.m3u8"] = [EngineSession.vod("v", 8)]
            session.start("v.m3u8")
            session.run(until: 20)
            session.setRate(1)
            session.run(until: 21)
            session.setRate(0)
            session.run(until: 22)
        },
        EngineScenario("playback starts at once") { session in
            session.transferTimes["v0"] = 1
            session.transferTimes["v1"] = 9
            session.playlists["v.m3u8"] = [EngineSession.vod("v", duration: "1")]
            session.start("v.m3u8")
            session.setRate(1, atOnce: true)
            session.run(until: 14)
        },
        EngineScenario("playback waits for enough media") { session in
            session.transferTimes["v"] = 3
            session.playlists["v.m3u8"] = [EngineSession.vod("v", duration: "2")]
            session.start("v.m3u8")
            session.setRate(1)
            session.run(until: 14)
        },
        EngineScenario("playback does not wait", { $0.waitsToMinimizeStalls = false }) { session in
            session.transferTimes["v"] = 3
            session.playlists["v.m3u8"] = [EngineSession.vod("v", duration: "2")]
            session.start("v.m3u8")
            session.setRate(1)
            session.run(until: 8)
        },
        EngineScenario("the application sets the start", { $0.startTime = MediaTime(seconds: 13) }) {
            $0.playVOD(until: 5)
        },
        EngineScenario("the start is after the end", { $0.startTime = MediaTime(seconds: 99) }) {
            $0.playVOD(until: 5)
        },
        EngineScenario("the stream declares the start") { session in
            session.playlists["v.m3u8"] = [
                EngineSession.vod("v").replacing(
                    "#EXT-X-PLAYLIST",
                    with: "#EXT-X-START:TIME-OFFSET=14\n#EXT-X-PLAYLIST"
                )
            ]
            session.start("v.m3u8")
            session.setRate(1)
            session.run(until: 4)
        },
        EngineScenario("the start is a date", { $0.startDate = ProgramDateTime("2026-03-01T00:00:13Z") }) { session in
            session.playlists["v.m3u8"] = [EngineSession.live("v", 0, 6, dated: true, ended: true)]
            session.start("v.m3u8")
            session.setRate(1)
            session.run(until: 4)
        },
        EngineScenario("a seek before the start") { session in
            session.playlists["v.m3u8"] = [EngineSession.vod("v")]
            session.start("v.m3u8")
            session.seek(to: 20)
            session.setRate(1)
            session.run(until: 4)
        },
        EngineScenario("a seek before the start is cancelled") { session in
            session.playlists["v.m3u8"] = [EngineSession.vod("v")]
            session.start("v.m3u8")
            session.seek(to: 20)
            session.run(until: 1.5)
            session.command(.cancelPendingSeeks)
            session.run(until: 4)
        },
        EngineScenario("the playlist is missing") { session in
            session.outcomes["v.m3u8"] = [.status(404)]
            session.playVOD(until: 4)
            session.seek(to: 1)
            session.stop()
            session.setRate(1)
        },
        EngineScenario("the playlist cannot be parsed") { session in
            session.playlists["v.m3u8"] = ["<html>"]
            session.start("v.m3u8")
            session.run(until: 4)
        },
        EngineScenario("the playlist lists nothing") { session in
            session.playlists["v.m3u8"] = [EngineSession.vod("v", 0)]
            session.start("v.m3u8")
            session.run(until: 4)
        },
        EngineScenario("the playlist of the only variant lists nothing") { session in
            session.playlists["main.m3u8"] = ["#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=1\nv.m3u8\n"]
            session.playlists["v.m3u8"] = [EngineSession.vod("v", 0)]
            session.start("main.m3u8")
            session.run(until: 4)
        },
        EngineScenario("no variant can be played") { session in
            session.playlists["main.m3u8"] = ["#EXTM3U\n#EXT-X-VERSION:3\n"]
            session.start("main.m3u8")
            session.run(until: 4)
        },
        EngineScenario("a live playlist without segments ends without any") { session in
            session.playlists["v.m3u8"] = [
                EngineSession.live("v", 0, 0), EngineSession.live("v", 0, 0, ended: true),
            ]
            session.start("v.m3u8")
            session.setRate(1)
            session.run(until: 60)
        },
        EngineScenario("the network is not the usual one") { session in
            session.observation.networkCost = [.cellular, .expensive]
            session.playVOD(until: 3)
        },
        EngineScenario("the pipeline refuses to play") { session in
            session.refusesToPlay = true
            session.playVOD(until: 4)
            session.refusesToPlay = false
            session.report(.timebaseChanged)
            session.report(.timebaseChanged)
            session.run(until: 5)
        },
        EngineScenario("the pipeline takes time for its commands") { session in
            session.commandTime = 0.5
            session.playVOD(until: 4)
            session.setRate(2)
            session.setRate(0)
            session.run(until: 6)
        },
        EngineScenario("a pause and the rate before it at once") { session in
            session.playVOD(until: 4)
            session.setRate(0)
            session.setRate(1)
            session.run(until: 6)
        },
        EngineScenario("the pipeline is lost") { session in
            session.playVOD(until: 4)
            session.report(.failed("the device is gone"))
            session.stop()
        },
        EngineScenario("the pipeline reports tracks, metadata and damage") { session in
            session.playVOD(until: 4)
            let tracks = [PlaybackTrack(id: 1, mediaType: .video, codec: "avc1")]
            session.report(.tracksChanged(tracks))
            session.report(.tracksChanged(tracks))
            session.report(.timedMetadata(TimedMetadata(kind: .id3, time: MediaTime(seconds: 1), payload: [])))
            session.report(.unplayable(.video, MediaTimeRange(start: .zero, end: MediaTime(seconds: 2))))
            session.report(.firstFrame)
            session.observation.frameCounts = FrameCounts(decoded: 50, dropped: 2, discarded: 0)
            session.report(.timebaseChanged)
        },
        EngineScenario("frames are stepped") { session in
            session.playVOD(until: 4)
            session.command(.step(count: 1, waiter: 1))
            session.setRate(0)
            session.command(.step(count: 2, waiter: 2))
            session.command(.step(count: 0, waiter: 3))
            session.run(until: 4)
            session.failingCommands = ["pipeline step"]
            session.command(.step(count: -1, waiter: 4))
            session.run(until: 5)
            session.observation.abilities.supportsStepping = false
            session.command(.step(count: -1, waiter: 5))
        },
        EngineScenario("the audio settings and the captions change") { session in
            session.playLadder(
                "#EXTM3U\n#EXT-X-MEDIA:TYPE=CLOSED-CAPTIONS,GROUP-ID=\"c\",NAME=\"E\",LANGUAGE=\"en\",INSTREAM-ID=\"CC1\"\n"
                    + "#EXT-X-STREAM-INF:BANDWIDTH=500000,CLOSED-CAPTIONS=\"c\"\nlow.m3u8\n",
                until: 3
            )
            let captions = session.state.control.plan.catalog.presentation?.group(.closedCaptions)
            session.command(.select(captions?.options.first, .closedCaptions))
            session.run(until: 3)
            session.command(.select(captions?.options.first, .closedCaptions))
            session.command(.select(nil, .closedCaptions))
            session.run(until: 3)
            session.update { $0.audioSettings.volume = 0.5 }
            session.run(until: 4)
        },
    ]

    static let end: [EngineScenario] = [
        EngineScenario("an item is played to its end and again") { session in
            session.playVOD(2, until: 15)
            session.setRate(1)
            session.seek(to: 3)
            session.run(until: 16)
            session.setRate(1)
            session.run(until: 30)
            session.stop()
        },
        EngineScenario("the playhead does not pause at the end", { $0.pausesAtEnd = false }) { session in
            session.playVOD(2, until: 15)
            session.seek(to: 3)
            session.run(until: 30)
        },
        EngineScenario("the application sets the end", { $0.forwardPlaybackEndTime = MediaTime(seconds: 8) }) {
            session in
            session.playVOD(until: 12)
            session.seek(to: 20)
            session.run(until: 14)
            session.update { $0.forwardPlaybackEndTime = nil }
            session.setRate(1)
            session.run(until: 16)
        },
        EngineScenario("playback backwards from the end") { session in
            session.playVOD(2, until: 15)
            session.setRate(-1)
            session.run(until: 40)
        },
        EngineScenario(
            "playback backwards to the end that the application set",
            {
                $0.reversePlaybackEndTime = MediaTime(seconds: 5)
                $0.startTime = MediaTime(seconds: 11)
            }
        ) { session in
            session.playVOD(3, until: 3)
            session.setRate(-2)
            session.run(until: 20)
            session.setRate(1)
            session.run(until: 21)
        },
        EngineScenario("playback backwards over media that is not loaded", { $0.startTime = MediaTime(seconds: 40) }) {
            session in
            session.playVOD(10, until: 4)
            session.setRate(-1)
            session.run(until: 50)
        },
        EngineScenario("a pipeline that does not play backwards") { session in
            session.observation.abilities.supportsReversePlayback = false
            session.playVOD(until: 4)
            session.setRate(-1)
            session.setRate(.nan)
            session.setRate(.infinity)
            session.run(until: 5)
        },
        EngineScenario("a step back from the end") { session in
            session.playVOD(1, until: 9)
            session.command(.step(count: -2, waiter: 1))
            session.run(until: 10)
            session.setRate(1)
            session.run(until: 11)
        },
        EngineScenario("media is missing at the end") { session in
            session.outcomes["v2.ts"] = [.status(404)]
            session.playVOD(3, until: 25)
        },
        EngineScenario("the engine is stopped while it opens the item") { session in
            session.start("v.m3u8")
            session.stop()
        },
        EngineScenario("the engine is stopped while it plays") { session in
            session.playVOD(until: 4)
            session.seek(to: 30, waiter: 4)
            session.stop()
            session.seek(to: 3, waiter: 5)
        },
    ]

    static let synchronizedStart: [EngineScenario] = [
        EngineScenario("playback starts at a time of the clock") { session in
            session.playVOD(until: 4)
            session.command(
                .setRateSynchronized(1, from: MediaTime(seconds: 5), at: .seconds(6), waiter: 1)
            )
            session.run(until: 8)
        },
        EngineScenario("the time has passed") { session in
            session.commandTime = 0.25
            session.playVOD(until: 6)
            session.command(
                .setRateSynchronized(2, from: MediaTime(seconds: 1), at: .seconds(5), waiter: 1)
            )
            session.run(until: 9)
        },
        EngineScenario("playback starts at the position of the playhead") { session in
            session.playVOD(until: 4)
            session.command(.setRateSynchronized(1, from: nil, at: .seconds(5), waiter: 1))
            session.run(until: 6)
        },
        EngineScenario("the start is cancelled by another rate") { session in
            session.playVOD(until: 4)
            session.command(
                .setRateSynchronized(1, from: MediaTime(seconds: 30), at: .seconds(9), waiter: 1)
            )
            session.setRate(1)
            session.run(until: 6)
        },
        EngineScenario("the start is cancelled by a seek") { session in
            session.playVOD(until: 4)
            session.command(
                .setRateSynchronized(1, from: MediaTime(seconds: 30), at: .seconds(9), waiter: 1)
            )
            session.seek(to: 2, waiter: 2)
            session.run(until: 6)
        },
        EngineScenario("the start is cancelled with the seeks") { session in
            session.playVOD(until: 4)
            session.command(
                .setRateSynchronized(1, from: MediaTime(seconds: 30), at: .seconds(9), waiter: 1)
            )
            session.command(.cancelPendingSeeks)
            session.run(until: 6)
        },
        EngineScenario("a seek after the start was given withdraws the waiting") { session in
            session.playVOD(until: 4)
            session.command(.setRateSynchronized(1, from: nil, at: .seconds(20), waiter: 1))
            session.run(until: 5)
            session.seek(to: 2, waiter: 2)
            session.run(until: 6)
        },
        EngineScenario("the pipeline cannot seek to the start") { session in
            session.failingCommands = ["pipeline seek 2"]
            session.playVOD(until: 4)
            session.command(
                .setRateSynchronized(1, from: MediaTime(seconds: 2), at: .seconds(9), waiter: 1)
            )
            session.run(until: 6)
        },
        EngineScenario("a start is refused") { session in
            session.playlists["v.m3u8"] = [EngineSession.vod("v")]
            session.start("v.m3u8")
            session.command(.setRateSynchronized(1, from: nil, at: .seconds(9), waiter: 1))
            session.setRate(1)
            session.run(until: 4)
            session.command(.setRateSynchronized(0, from: nil, at: .seconds(9), waiter: 2))
            session.command(.setRateSynchronized(.nan, from: nil, at: .seconds(9), waiter: 3))
            session.stop()
            session.command(.setRateSynchronized(1, from: nil, at: .seconds(9), waiter: 4))
        },
    ]

    static let seek: [EngineScenario] = [
        EngineScenario("a seek in the buffer") { session in
            session.playVOD(until: 4)
            session.seek(to: 5, .any)
            session.run(until: 5)
        },
        EngineScenario("a seek to media that is not loaded") { session in
            session.transferTimes["v2"] = 8
            session.playVOD(12, until: 4)
            session.seek(to: 50)
            session.run(until: 7)
        },
        EngineScenario("a seek into the segment in transfer") { session in
            session.transferTimes["v2"] = 8
            session.playVOD(12, until: 5)
            session.seek(to: 15)
            session.run(until: 13)
        },
        EngineScenario("a seek while paused") { session in
            session.playVOD(12, until: 4)
            session.setRate(0)
            session.seek(to: 50)
            session.run(until: 7)
        },
        EngineScenario("a seek replaces another") { session in
            session.playVOD(12, until: 4)
            session.seek(to: 50, waiter: 1)
            session.seek(to: 60, waiter: 2)
            session.run(until: 6)
        },
        EngineScenario("a seek replaces one that the pipeline carries out") { session in
            session.playVOD(12, until: 4)
            session.commandTime = 1
            session.seek(to: 2, waiter: 1)
            session.run(until: 4.5)
            session.seek(to: 3, waiter: 2)
            session.run(until: 7)
        },
        EngineScenario("a seek is cancelled") { session in
            session.playVOD(12, until: 4)
            session.seek(to: 50)
            session.command(.cancelPendingSeeks)
            session.command(.cancelPendingSeeks)
            session.run(until: 5)
        },
        EngineScenario("a seek beyond the ends") { session in
            session.playVOD(3, until: 4)
            session.seek(to: 99, waiter: 1)
            session.run(until: 6)
            session.seek(to: -3, waiter: 2)
            session.run(until: 7)
        },
        EngineScenario("the pipeline cannot show the target") { session in
            session.failingCommands = ["pipeline seek 2"]
            session.playVOD(until: 4)
            session.seek(to: 2)
            session.run(until: 5)
        },
        EngineScenario("a seek to a date before the playlist is there") { session in
            session.playlists["v.m3u8"] = [EngineSession.live("v", 0, 6, dated: true, ended: true)]
            session.start("v.m3u8")
            let date = try #require(ProgramDateTime("2026-03-01T00:00:20Z"))
            session.command(.seekToDate(date, .exact, waiter: 1))
            session.command(.seekToDate(date, .exact, waiter: 2))
            session.setRate(1)
            session.run(until: 3)
            session.command(.seekToDate(try #require(ProgramDateTime("2026-03-01T00:00:02Z")), .any, waiter: 3))
            session.run(until: 5)
        },
        EngineScenario("a seek to a date of a stream without dates") { session in
            session.playlists["v.m3u8"] = [EngineSession.vod("v")]
            session.start("v.m3u8")
            let date = try #require(ProgramDateTime("2026-03-01T00:00:20Z"))
            session.command(.seekToDate(date, .exact, waiter: 1))
            session.setRate(1)
            session.run(until: 3)
            session.command(.seekToDate(date, .exact, waiter: 2))
            session.run(until: 4)
        },
        EngineScenario("a seek to a segment that is missing") { session in
            session.outcomes["v5.ts"] = [.status(404)]
            session.playVOD(until: 4)
            session.seek(to: 31)
            session.run(until: 8)
        },
        EngineScenario("a seek over a gap that was left out") { session in
            session.playVOD(8, [3: "#EXT-X-GAP"], until: 4)
            session.seek(to: 20)
            session.run(until: 8)
        },
        EngineScenario("a seek forwards and back over what is loaded") { session in
            session.playVOD(20, until: 8)
            session.seek(to: 100, waiter: 1)
            session.run(until: 14)
            session.seek(to: 1, waiter: 2)
            session.run(until: 16)
            session.seek(to: 101, waiter: 3)
            session.run(until: 18)
        },
    ]
}
