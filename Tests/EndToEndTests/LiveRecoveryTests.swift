import Foundation
import TestSamples
import Testing

/// Tests how the page continues a live stream whose origin fails for a while or begins anew, in a real browser.
@Suite(
    .serialized,
    .tags(.endToEnd),
    .enabled(if: Samples.directory != nil, "the sample streams were not made: run Scripts/make-samples"),
    .enabled(if: Chromium.executable != nil, "there is no Chromium")
)
struct LiveRecoveryTests: ConsoleTesting {
    private static let note = "document.querySelector('#live-note').textContent"

    /// A folder with the segments of a live stream of 4 seconds each, whose playlist tests write.
    private struct LiveFolder {
        /// The URL of the folder.
        let url: URL

        /// Writes the playlist.
        ///
        /// - Parameters:
        ///   - segments: The numbers of the segments of the sample that the playlist lists.
        ///   - sequence: The media sequence number of the first one.
        ///   - isEnded: A Boolean value that indicates whether the playlist has an end marker.
        /// - Throws: An error if the file cannot be written.
        func list(_ segments: Range<Int>, from sequence: Int, isEnded: Bool = false) throws {
            let lines = segments.map { "#EXTINF:4,\n\($0).m4s\n" }.joined()
            let text = """
                #EXTM3U
                #EXT-X-VERSION:6
                #EXT-X-TARGETDURATION:4
                #EXT-X-MEDIA-SEQUENCE:\(sequence)
                #EXT-X-MAP:URI="init.mp4"
                \(lines)\(isEnded ? "#EXT-X-ENDLIST\n" : "")
                """
            try Data(text.utf8).write(to: url.appendingPathComponent("live.m3u8"), options: .atomic)
        }

        /// Removes a file.
        ///
        /// - Parameter name: The name of the file.
        /// - Throws: An error if the file cannot be removed.
        func remove(_ name: String) throws {
            try FileManager.default.removeItem(at: url.appendingPathComponent(name))
        }
    }

    /// Plays a live stream, which begins with five segments, and is played from the third one on.
    private func playLive(
        from sequence: Int = 0,
        without missing: [String] = [],
        _ act: (ConsoleStage, LiveFolder) async throws -> Void
    ) async throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("live-\(UUID())")
        let sample = try #require(Samples.directory).appendingPathComponent("fmp4/360p")
        try FileManager.default.copyItem(at: sample, to: folder)
        defer { try? FileManager.default.removeItem(at: folder) }
        let live = LiveFolder(url: folder)
        for name in missing { try live.remove(name) }
        try live.list(0..<5, from: sequence)
        let catalog: (RecordingOrigin) -> String = { origin in
            #"[{"id": "live", "name": "live", "url": "\#(origin.address("live.m3u8"))"}]"#
        }
        try await ConsoleStage.run(from: folder, catalog: catalog, before: ConsoleTests.withoutHLS) { stage in
            try await play("live", on: stage)
            try await expectMediaSource(stage)
            #expect(try await stage.video.currentTime > 7.9)
            try await act(stage, live)
            #expect(try await stage.page.isTrue("document.querySelector('#playback-error').hidden"))
        }
    }

    // MARK: Decisions

    /// A live stream is awaited where the playback of another one ends.
    @Test(.timeLimit(.minutes(10))) func liveStreamIsAwaitedForALimitedTime() async throws {
        let script = """
            (async () => {
              const {recoveryStep} = await import('/console/segment-recovery.js')
              const {LiveInterruption, isTemporary, pauseMilliseconds} = await import('/console/live-interruption.js')
              const step = changes => recoveryStep({
                variants: ['a', 'b'], current: 'a', failed: ['b'], excluded: [], loads: 4, skipped: 0, canSkip: true, isLive: true,
                ...changes
              }).action
              const steps = [
                step({loads: 1}), step({failed: [], loads: 2}), step({}), step({skipped: 1}), step({canSkip: false}),
                step({canSkip: false, isLive: false})
              ]
              const interruption = new LiveInterruption()
              const waits = [
                interruption.add('video', 'first', 0, 10), interruption.add('audio', 'second', 299990, 299999),
                interruption.add('video', 'third', 300000, 300000), interruption.add('audio', 'fourth', 300001, 300001)
              ]
              const ends = [['video', 301000], ['audio', 302000], ['audio', 303000]].map(end => interruption.remove(...end))
              const temporary = [404, 502, 0, 400, 403].map(status => isTemporary({status}))
              return [steps, waits, ends, interruption.error, temporary, [1, 6, 60].map(pauseMilliseconds)].map(String).join('; ')
            })()
            """
        try await onStage { stage in
            let decisions = try await stage.page.text(script)
            #expect(
                decisions
                    == "retry,switch,skip,wait,wait,fail; true,true,false,true; ,302,; first; true,true,true,false,false; 1000,3000,10000"
            )
        }
    }

    /// The playlist of an encoder that was started again differs from a late copy of the one before.
    @Test(.timeLimit(.minutes(10))) func playlistThatBeginsAnewFollowsTheOneBefore() async throws {
        let script = """
            (async () => {
              const {MediaTimeline} = await import('/console/media-timeline.js')
              const original = window.fetch
              const responses = []
              window.fetch = (url, ...rest) => String(url).startsWith('/api/playback/playlist')
                ? Promise.resolve(new Response(JSON.stringify(responses.shift()))) : original(url, ...rest)
              let later = 0
              const now = performance.now.bind(performance)
              performance.now = () => now() + later
              const playlist = (first, count, date) => ({
                type: 'media', ended: false, targetDuration: 4,
                segments: Array.from({length: count}, (_, index) => ({
                  sequence: first + index, duration: 4, discontinuity: 0, date: date === undefined ? undefined : date + index * 4,
                })),
              })
              const load = async (timeline, ...playlists) => {
                responses.push(...playlists)
                await timeline.update()
                return timeline
              }
              const shown = ({segments, restarts}) => segments.map(({sequence, start}) => sequence + '@' + start).join(' ') + ' ' + restarts
              const results = []
              // Other numbers without dates.
              const video = await load(new MediaTimeline('/video'), playlist(100, 5))
              const audio = await load(new MediaTimeline('/audio', () => video), playlist(100, 5))
              // The audio is loaded first, and begins with the video.
              await load(audio, playlist(0, 5), playlist(0, 5))
              results.push(shown(video), audio.restarts, audio.end === video.end)
              results.push(video.segments[0].discontinuity === audio.segments[0].discontinuity && video.segments[0].discontinuity > 0)
              // The same numbers without dates can be a late copy, but not for longer than three target durations and loads.
              const same = await load(new MediaTimeline('/same'), playlist(0, 5))
              results.push(shown(await load(same, playlist(0, 3))))
              later = 12001
              results.push(shown(await load(same, playlist(0, 3))), shown(await load(same, playlist(0, 3))))
              // All segments of a new playlist end at its live edge.
              const empty = await load(new MediaTimeline('/empty'), playlist(100, 5))
              const { segments } = playlist(0, 3)
              const withoutDurations = segments.map(segment => ({...segment, duration: 0}))
              results.push(shown(await load(empty, {type: 'media', ended: false, targetDuration: 4, segments: withoutDurations})))
              // The same numbers with later and with earlier dates.
              const dated = await load(new MediaTimeline('/dated'), playlist(2, 3, 1000))
              results.push(shown(await load(dated, playlist(0, 4, 992))))
              results.push(shown(await load(dated, playlist(0, 3, 1100))))
              results.push(dated.isStuck)
              later += 13000
              results.push(dated.isStuck)
              window.fetch = original
              delete performance.now
              return results.join('; ')
            })()
            """
        try await onStage { stage in
            let decisions = try await stage.page.text(script)
            #expect(
                decisions
                    == "2@20 3@24 4@28 1; 1; true; true; 0@0 1@4 2@8 3@12 4@16 0; 0@0 1@4 2@8 3@12 4@16 0; "
                    + "0@20 1@24 2@28 1; 2@20 1; 2@0 3@4 4@8 0; 0@12 1@16 2@20 1; false; true"
            )
        }
    }

    /// The notes tell what is true at present, and the distance from the live edge grows while nothing is published.
    @Test(.timeLimit(.minutes(10))) func notesAndDistanceFollowAnOutage() async throws {
        let script = """
            (async () => {
              const {LiveEnd} = await import('/console/charts.js')
              const {liveNote} = await import('/console/now-playing.js')
              const {waitingText} = await import('/console/waiting-note.js')
              const error = {code: 'timed-out', status: 504}
              const end = new LiveEnd()
              const distances = [[10, 20, 0], [12, 20, 2000], [19.5, 20, 30000], [30, 44, 31000]].map(now => end.distance(...now))
              return [
                distances.join(), liveNote({state: 'continued', seconds: 23, isAtLiveEdge: true, error}).interruption,
                waitingText(5, {hasEffect: false, text: 'Off'}), waitingText(5, {hasEffect: true, text: '3G'}),
                waitingText(5, {hasEffect: false, text: 'Off'}, error)
              ].join('; ')
            })()
            """
        try await onStage { stage in
            let texts = try await stage.page.text(script)
            #expect(
                texts
                    == "10,10,30.5,14; "
                    + "The live stream was interrupted for 23 s, and playback continues at the live edge.; "
                    + "Playback has waited for data for 5 s.; Playback has waited for data for 5 s. "
                    + "The network conditions are “3G”; other conditions apply at once.; "
                    + "Playback has waited for data for 5 s. The origin is not responding."
            )
        }
    }

    // MARK: In the browser

    @Test(.timeLimit(.minutes(10))) func playbackContinuesAtTheLiveEdgeAfterAnOutage() async throws {
        try await playLive { stage, live in
            try live.remove("live.m3u8")
            try await eventually("the page says that the stream is interrupted") {
                try await stage.page.text(Self.note).contains("The live stream is interrupted.")
            }
            #expect(try await stage.page.text(Self.note).contains("404"))
            try await eventually("playback waits") { try await stage.video.currentTime > 19 }
            // Three segments were published and removed in the meantime.
            try live.list(8..<13, from: 8)
            try await eventually("playback continues at the live edge") { try await stage.video.currentTime > 40.2 }
            let note = try await stage.page.text(Self.note)
            let message = /The live stream was interrupted for \d+ s, and playback continues at the live edge\./
            #expect(note.contains(message), "\(note)")
        }
    }

    /// The last load of the playlist adds no segment, with which the interruption would end.
    @Test(.timeLimit(.minutes(10))) func interruptionEndsWithTheStream() async throws {
        try await playLive { stage, live in
            try live.remove("live.m3u8")
            try await eventually("the page says that the stream is interrupted") {
                try await stage.page.text(Self.note).contains("The live stream is interrupted.")
            }
            try live.list(0..<5, from: 0, isEnded: true)
            try await eventually("the page says that the interruption is over") {
                try await stage.page.text(Self.note).contains("The live stream was interrupted for")
            }
            try await eventually("playback ends") { try await stage.page.isTrue("video.ended") }
            #expect(try await !stage.page.text(Self.note).contains("The live stream is interrupted."))
        }
    }

    @Test(.timeLimit(.minutes(10))) func segmentsThatALiveStreamLacksAreLeftOut() async throws {
        try await playLive(without: ["3.m4s", "4.m4s"]) { stage, live in
            try await eventually("the page says that the stream is interrupted") {
                try await stage.page.text(Self.note).contains("The live stream is interrupted.")
            }
            try live.list(5..<10, from: 5)
            try await eventually("playback continues at the live edge") { try await stage.video.currentTime > 28.2 }
            let note = try await stage.page.text(Self.note)
            #expect(note.contains("playback continues at the live edge."), "\(note)")
        }
    }

    @Test(.timeLimit(.minutes(10))) func livePlaylistThatBeginsAnewIsPlayed() async throws {
        try await playLive(from: 100) { stage, live in
            try live.list(10..<15, from: 0)
            try await eventually("playback reaches the new segments") { try await stage.video.currentTime > 20.5 }
            let note = try await stage.page.text(Self.note)
            #expect(note.contains("The live playlist has begun anew"), "\(note)")
            // Segment 13 of the sample begins at 52 s, and is the second one from the live edge on.
            try await expectFrame(25, shows: 53, stage.video)
        }
    }

    /// The playlist no longer lists what follows the position at which playback was paused.
    @Test(.timeLimit(.minutes(10))) func playbackContinuesAtTheLiveEdgeAfterALongPause() async throws {
        try await playLive { stage, live in
            try await eventually("all segments are buffered") {
                try await stage.page.isTrue("video.buffered.length > 0 && video.buffered.end(0) > 19.8")
            }
            _ = try await stage.page.evaluate("void (video.pause(), (video.currentTime = 19))")
            try live.list(10..<15, from: 30)
            stage.origin.clearPaths()
            try await eventually("the playlist is loaded again") {
                stage.origin.paths.count { $0.hasSuffix("live.m3u8") } > 1
            }
            #expect(try await stage.video.currentTime < 20)
            _ = try await stage.page.evaluate("void video.play()")
            try await eventually("playback continues at the live edge") { try await stage.video.currentTime > 128.2 }
            let note = try await stage.page.text(Self.note)
            #expect(note.contains("The live playlist no longer lists the position"), "\(note)")
        }
    }
}
