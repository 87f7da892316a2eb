import Foundation
import TestSamples
import Testing

/// Tests how the player of the page continues after segments that cannot be loaded or read, in a real browser.
@Suite(
    .serialized,
    .tags(.endToEnd),
    .enabled(if: Samples.directory != nil, "the sample streams were not made: run Scripts/make-samples"),
    .enabled(if: Chromium.executable != nil, "there is no Chromium")
)
struct SegmentRecoveryTests {
    private static let error = "document.querySelector('#playback-error').innerText"
    private static let note = "document.querySelector('#recovery-note').textContent"
    private static let gaps = "document.querySelector('#gaps-note').textContent"

    /// A script that makes the browser one without HLS, and records the segments that the page requests and all errors that it shows.
    private static let script =
        ConsoleTests.withoutHLS + """
            ; window.requested = []; window.failures = 0
            window.fetch = (original => (url, options) => {
              const {pathname, searchParams} = new URL(url, location.href)
              if (pathname === '/api/playback/segment') {
                const variant = searchParams.get('address').match(/(audio-[a-z]+|[0-9]+p)(?:\\/|%2F)media/)[1]
                window.requested.push(variant + ' ' + searchParams.get('segment'))
              }
              return original(url, options)
            })(window.fetch)
            addEventListener('DOMContentLoaded', () => {
              const panel = document.querySelector('#playback-error')
              new MutationObserver(() => { if (!panel.hidden) window.failures += 1 }).observe(panel, {attributes: true})
            })
            """

    /// Plays a stream with faults of the server.
    private func play(_ stream: String, _ faults: [String], _ act: (ConsoleStage) async throws -> Void) async throws {
        try await ConsoleStage.run(faults.flatMap { ["--fault", $0] }, before: Self.script) { stage in
            try await stage.page.click("article[data-stream-id=\(stream)] [data-action=play]")
            try await act(stage)
        }
    }

    /// Returns the number of requests for a segment, such as `720p 3`.
    private func requests(_ segment: String, _ stage: ConsoleStage) async throws -> Int {
        try await Int(stage.page.number("requested.filter(name => name === '\(segment)').length"))
    }

    private func expectProgress(to time: Double, _ stage: ConsoleStage) async throws {
        try await eventually("playback is at \(time) s") { try await stage.video.currentTime > time }
        let error = try await stage.page.text(Self.error)
        #expect(try await stage.page.number("failures") == 0, "\(error)")
    }

    // MARK: Decisions

    /// Lower variants come first, then higher ones, and excluded ones only if no other is left.
    @Test(.timeLimit(.minutes(10))) func decisionsAreThoseOfTheFailures() async throws {
        let script = """
            import('/console/segment-recovery.js').then(({recoveryStep, FailedMedia}) => {
              const step = changes => {
                const {action, delay, variant} = recoveryStep({
                  variants: ['a', 'b', 'c', 'd'], current: 'c', failed: [], excluded: [], loads: 2, skipped: 0, canSkip: true, ...changes
                })
                return [action, delay, variant].filter(value => value !== undefined).join(' ')
              }
              const all = ['a', 'b', 'd']
              const steps = [
                step({loads: 1}), step({}), step({loads: 1, isDamaged: true}), step({failed: ['b']}), step({failed: ['a', 'b']}),
                step({excluded: ['a', 'b']}), step({excluded: all}), step({failed: all}), step({failed: all, loads: 4}),
                step({failed: all, loads: 1, isDamaged: true}), step({failed: all, loads: 1, skipped: 1}),
                step({failed: all, loads: 4, canSkip: false}), step({variants: [], loads: 3}), step({variants: [], loads: 4})
              ]
              const media = new FailedMedia()
              const isExcluded = []
              for (const [failure, ends] of [[0, 60000], [100000, 220000]]) {
                media.exclude('a', failure)
                isExcluded.push(media.isExcluded('a', ends - 1), media.isExcluded('a', ends))
              }
              const counts = [3, 3.5, 3, 12, 12.1].map(position => media.countError(position))
              return [steps.join(), isExcluded.join(), media.isExcluded('b', 0), counts.join()].join('; ')
            })
            """
        try await ConsoleStage.run { stage in
            let result = try await stage.page.text(script)
            let steps = [
                "retry 1000", "switch b", "switch b", "switch a", "switch d", "switch d", "switch b", "retry 2000",
                "skip", "skip",
                "fail", "fail", "retry 4000", "skip",
            ]
            #expect(result == steps.joined(separator: ",") + "; true,false,true,false; false; 1,2,3,1,2")
        }
    }

    /// The parser of the browser begins anew after a segment whose last box is cut off.
    @Test(.timeLimit(.minutes(10))) func segmentThatIsCutOffEndsBeforeTheNextOne() async throws {
        let script = """
            (async () => {
              const {hasCompleteBoxes, Track} = await import('/console/media-source-track.js')
              const {recoveryNote} = await import('/console/now-playing.js')
              const bytes = (length, size) => {
                const { buffer } = new Uint8Array(length)
                new DataView(buffer).setUint32(0, size)
                return buffer
              }
              const segments = [bytes(16, 16), bytes(15, 16), bytes(20, 16), bytes(16, 0), bytes(8, 8)]
              const calls = []
              class Buffer extends EventTarget {
                updating = false
                timestampOffset = 0
                appendBuffer({byteLength}) { calls.push(byteLength) }
                abort() { calls.push('abort') }
              }
              const track = new Track({address: '/a'}, false)
              track.type = 'video/mp4'
              track.addBuffer({addSourceBuffer: () => new Buffer()})
              for (const part of segments.slice(0, 2).reverse()) {
                const media = {bytes: part, type: track.type}
                calls.push(await track.append(media, {sequence: 1, start: 0, duration: 4}, 0, () => 0, new AbortController().signal))
              }
              return [segments.map(hasCompleteBoxes), calls, recoveryNote({action: 'incomplete', segment: 1})].map(String).join('; ')
            })()
            """
        try await ConsoleStage.run { stage in
            let result = try await stage.page.text(script)
            #expect(
                result
                    == "true,false,false,true,true; 15,abort,false,16,true; Segment 1 of the playlist ends before its "
                    + "media is complete, so playback continues with the next segment."
            )
        }
    }

    /// Only the media that is missing at the end of a stream is no gap, which playback would pass.
    @Test(.timeLimit(.minutes(10))) func missingMediaIsToldWithItsConsequence() async throws {
        let script = """
            (async () => {
              const {appendedDamage} = await import('/console/segment-recovery.js')
              const {recoveryNote} = await import('/console/now-playing.js')
              const segment = sequence => ({sequence, start: sequence * 4, duration: 4})
              const damage = (sequence, bufferedEnd, isComplete = true, isEnded = true) => {
                const timeline = {isEnded, segments: [segment(1), segment(2)]}
                return appendedDamage({timeline, bufferedEnd}, segment(sequence), isComplete, sequence * 4)
              }
              const cases = [
                damage(2, 10), damage(2, 11.5), damage(2, 10, true, false), damage(1, 6), damage(2, undefined), damage(2, 10, false),
                damage(1, 6, false)
              ]
              const notes = [cases[0], cases[5], {action: 'gap'}].map(damage => recoveryNote({...damage, segment: 2}))
              return [cases.map(damage => damage?.action ?? 'none').join(), ...notes].join('|')
            })()
            """
        try await ConsoleStage.run { stage in
            let parts = try await stage.page.text(script).split(separator: "|").map(String.init)
            #expect(
                parts == [
                    "short,none,none,none,none,incomplete,incomplete",
                    "The media of segment 2, the last one of the playlist, is 2.0 s shorter than the playlist says, "
                        + "so playback ends earlier.",
                    "Segment 2 of the playlist ends before its media is complete, so playback ends there.",
                    "Segment 2 of the playlist is a gap without media (EXT-X-GAP), so it is left out.",
                ]
            )
        }
    }

    // MARK: In the browser

    /// The server converts what is left of a transport stream, so that only its duration tells that it was cut off.
    @Test(.timeLimit(.minutes(10))) func lastSegmentThatIsCutOffIsTold() async throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("cut-\(UUID())")
        let sample = try #require(Samples.directory).appendingPathComponent("ts/360p")
        try FileManager.default.copyItem(at: sample, to: folder)
        defer { try? FileManager.default.removeItem(at: folder) }
        let playlist = folder.appendingPathComponent("media.m3u8")
        let lines = try String(contentsOf: playlist, encoding: .utf8).split(separator: "\n").map(String.init)
        let first = try #require(lines.firstIndex { !$0.hasPrefix("#") })
        try (lines[...first] + ["#EXT-X-ENDLIST", ""]).joined(separator: "\n")
            .write(to: playlist, atomically: true, encoding: .utf8)
        let file = folder.appendingPathComponent(lines[first])
        let media = try Data(contentsOf: file)
        try media.prefix(media.count / 376 * 188).write(to: file, options: .atomic)
        let catalog: (RecordingOrigin) -> String = { origin in
            #"[{"id": "cut", "name": "cut", "url": "\#(origin.address("media.m3u8"))"}]"#
        }
        try await ConsoleStage.run(from: folder, catalog: catalog, before: ConsoleTests.withoutHLS) { stage in
            try await stage.page.click("article[data-stream-id=cut] [data-action=play]")
            try await eventually("the page tells that media is missing") {
                try await stage.page.text(Self.note).contains("shorter than the playlist says")
            }
        }
    }

    /// A video element does not tell which segments it plays, so that the page says that it cannot report their damage.
    @Test(.timeLimit(.minutes(10))) func browserThatPlaysDoesNotTellAboutDamage() async throws {
        let note = "document.querySelector('#playback-method-note')"
        try await ConsoleStage.run { stage in
            try await stage.page.click("article[data-stream-id=ts] [data-action=play]")
            try await eventually("the page says so") { try await stage.page.isTrue("!\(note).hidden") }
            #expect(
                try await stage.page.text("\(note).textContent").contains("does not tell which segments are damaged")
            )
            try await stage.page.choose("media-source", in: "#playback-method")
            try await eventually("the page plays") { try await stage.page.isTrue("\(note).hidden") }
            // The browser plays files in any case.
            try await stage.page.click("article[data-stream-id=movie] [data-action=play]")
            try await stage.video.waitUntilPlaying()
            #expect(try await stage.page.isTrue("\(note).hidden"))
        }
    }

    /// The page names the segment that is cut off, and plays the one after it.
    @Test(.timeLimit(.minutes(10))) func playbackContinuesAfterASegmentThatIsCutOff() async throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("cut-\(UUID())")
        let sample = try #require(Samples.directory).appendingPathComponent("fmp4/360p")
        try FileManager.default.copyItem(at: sample, to: folder)
        defer { try? FileManager.default.removeItem(at: folder) }
        let file = folder.appendingPathComponent("1.m4s")
        try Data(contentsOf: file).dropLast(1_000).write(to: file, options: .atomic)
        let catalog: (RecordingOrigin) -> String = { origin in
            #"[{"id": "cut", "name": "cut", "url": "\#(origin.address("media.m3u8"))"}]"#
        }
        try await ConsoleStage.run(from: folder, catalog: catalog, before: ConsoleTests.withoutHLS) { stage in
            try await stage.page.click("article[data-stream-id=cut] [data-action=play]")
            try await eventually("the segment after the next one is played") {
                try await stage.video.currentTime > 12.5
            }
            let note = try await stage.page.text(Self.note)
            #expect(note.contains("Segment 1 of the playlist ends before its media is complete"), "\(note)")
            #expect(try await stage.page.isTrue("document.querySelector('#playback-error').hidden"))
        }
    }

    /// The page begins with the lowest variant, so its first segment is always that of this variant.
    @Test(.timeLimit(.minutes(10))) func segmentThatCannotBeLoadedIsTakenFromAnotherVariant() async throws {
        try await play("ts", ["path=*180p/0.ts&status=404"]) { stage in
            try await stage.video.waitUntilPlaying()
            let note = try await stage.page.text(Self.note)
            #expect(note.contains("Segment 0 of the playlist cannot be played, so another variant plays."), "\(note)")
            #expect(note.contains("status 404"), "\(note)")
            try await expectProgress(to: 7, stage)
            #expect(try await requests("180p 0", stage) == 2)
            #expect(try await requests("360p 0", stage) == 1)
            #expect(try await stage.page.text(Self.gaps).isEmpty)
        }
    }

    /// All variants but one lack the segment, so that it is found whatever throughput the page has measured.
    @Test(.timeLimit(.minutes(10))) func onlyVariantWithASegmentIsFound() async throws {
        let lacking = ["180p", "480p", "720p", "1080p"]
        try await play("ts", lacking.map { "path=*\($0)/1.ts&status=404" }) { stage in
            try await stage.video.waitUntilPlaying()
            try await expectProgress(to: 12.5, stage)
            #expect(try await requests("360p 1", stage) == 1)
            #expect(try await stage.page.text(Self.gaps).isEmpty)
            for variant in lacking { #expect(try await requests("\(variant) 1", stage) <= 2) }
        }
    }

    /// An append that fails makes the media source unusable, so that another one continues.
    @Test(.timeLimit(.minutes(10))) func segmentThatTheBrowserCannotReadIsTakenFromAnotherVariant() async throws {
        try await play("fmp4", ["path=*360p/0.m4s&corrupt=1000"]) { stage in
            try await stage.video.waitUntilPlaying()
            let note = try await stage.page.text(Self.note)
            #expect(note.contains("Segment 0 of the playlist cannot be played, so another variant plays."), "\(note)")
            #expect(note.contains("The browser cannot read its media."), "\(note)")
            try await expectProgress(to: 5, stage)
            #expect(try await requests("360p 0", stage) == 1)
            #expect(try await requests("720p 0", stage) == 1)
            #expect(try await stage.page.text(Self.gaps).isEmpty)
        }
    }

    /// The bad segment is ahead of the position, at which playback stays paused.
    @Test(.timeLimit(.minutes(10))) func pausedPlaybackStaysPaused() async throws {
        try await play("fmp4", ["path=*p/13.m4s&corrupt=1000"]) { stage in
            try await stage.video.waitUntilPlaying()
            _ = try await stage.page.evaluate("void (video.pause(), (video.currentTime = 40))")
            try await eventually("the segment is left out") {
                try await stage.page.text(Self.note)
                    .contains("Segment 13 of the playlist cannot be played, so playback continues after it.")
            }
            try await eventually("the media after it is buffered") {
                try await stage.page.isTrue(
                    "video.buffered.length > 1 && video.buffered.end(video.buffered.length - 1) > 58"
                )
            }
            #expect(try await stage.page.isTrue("video.paused && video.currentTime === 40"))
            #expect(try await stage.page.number("failures") == 0)
        }
    }

    /// The rate and the volume stay when a new media source replaces the one that has failed.
    @Test(.timeLimit(.minutes(10))) func segmentThatNoVariantHasIsLeftOut() async throws {
        try await play("fmp4", ["path=*p/3.m4s&corrupt=1000"]) { stage in
            try await stage.video.waitUntilPlaying()
            _ = try await stage.page.evaluate("void ((video.volume = 0.5), (video.playbackRate = 1.5))")
            try await eventually("the segment is left out") {
                try await stage.page.text(Self.note).contains(
                    "Segment 3 of the playlist cannot be played, so playback continues"
                )
            }
            try await expectProgress(to: 17, stage)
            #expect(try await stage.page.isTrue("video.volume === 0.5 && video.playbackRate === 1.5"))
            #expect(try await stage.page.text(Self.gaps).contains("Playback has passed a gap in the media"))
            for variant in ["360p", "720p"] { #expect(try await requests("\(variant) 3", stage) <= 1) }
        }
    }

    /// The error names one of the first segments, and each variant was tried a limited number of times.
    @Test(.timeLimit(.minutes(10))) func playbackEndsIfTheNextSegmentFailsToo() async throws {
        try await play("fmp4", ["path=*p/*.m4s&corrupt=1000"]) { stage in
            try await eventually("the cause is told") {
                try await !stage.page.isTrue("document.querySelector('#playback-error').hidden")
            }
            let text = try await stage.page.text(Self.error)
            let message = /Segment [01] of the playlist cannot be played. The browser cannot read its media./
            #expect(text.contains(message), "\(text)")
            #expect(text.contains("Try again"), "\(text)")
            for segment in 0...1 {
                for variant in ["360p", "720p"] { #expect(try await requests("\(variant) \(segment)", stage) <= 1) }
            }
            #expect(
                try await stage.page.number(
                    "requested.filter(name => / [2-9]/.test(name) && !name.startsWith('audio')).length"
                ) == 0
            )
        }
    }
}
