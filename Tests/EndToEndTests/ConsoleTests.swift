import Foundation
import TestSamples
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Tests how the console plays streams, with a real server, a real browser and real media.
@Suite(
    .serialized,
    .tags(.endToEnd),
    .enabled(if: Samples.directory != nil, "the sample streams were not made: run Scripts/make-samples"),
    .enabled(if: Chromium.executable != nil, "there is no Chromium")
)
struct ConsoleTests: ConsoleTesting {
    typealias Stage = ConsoleStage

    @Test(.timeLimit(.minutes(10))) func streamPlaysAndSeeksToTheRightFrames() async throws {
        try await onStage { stage in
            #expect(try await stage.page.number("document.querySelectorAll('article[data-stream-id]').length") == 9)
            try await play("ts", on: stage)
            for time in [0.5, 13.3, 40.02, 71.5] { try await expectFrame(time, shows: time, stage.video) }
            #expect(abs(try await stage.video.duration - 72) < 0.2)
        }
    }

    @Test(.timeLimit(.minutes(10))) func consoleSignsTheURLsThatItPlaysAndShows() async throws {
        let secret = FileManager.default.temporaryDirectory.appendingPathComponent("secret-\(UUID())")
        defer { try? FileManager.default.removeItem(at: secret) }
        try Data(repeating: 7, count: 32).write(to: secret)
        try await onStage(["--secret", secret.path]) { stage in
            try await play("ts", on: stage)
            try await expectFrame(13.3, shows: 13.3, stage.video)
            let shown = "document.querySelector('#playback-url').value"
            #expect(try await stage.page.text(shown).contains("&signature="))
            let saved = "fetch(document.querySelector('#save-playlist').href).then(r => r.text())"
            #expect(try await stage.page.text(saved).contains("\n\(stage.address)play.m3u8?url="))
            let unsigned = "fetch(\(shown).replace(/&signature=.*/, '')).then(r => r.json()).then(e => e.error.code)"
            #expect(try await stage.page.text(unsigned) == "missing-signature")
        }
    }

    @Test(
        .timeLimit(.minutes(10)),
        arguments: ["fmp4", "aes", "byterange", "dash-number", "dash-timeline", "dash-ondemand"]
    )
    func otherStreamFormatsPlay(stream: String) async throws {
        try await onStage { stage in
            try await play(stream, on: stage)
            for time in [2.25, 31.0] { try await expectFrame(time, shows: time, stage.video) }
        }
    }

    @Test(.timeLimit(.minutes(10))) func mediaFilesPlayWithoutEdits() async throws {
        try await onStage { stage in
            try await play("movie", on: stage)
            #expect(abs(try await stage.video.duration - 30) < 0.2)
            #expect(try await stage.page.number("document.querySelector('video').videoWidth") == 640)
            #expect(try await stage.page.isTrue("document.querySelector('#bandwidth, #quality-minimum').disabled"))
            #expect(try await stage.page.isTrue("document.querySelector('#save-playlist').hidden"))
            try await stage.page.choose("EDGE", in: "#network")
            try await eventually("the transfer of the file has the conditions") {
                try await stage.page.text(
                    "(async () => (await (await fetch('/api/conditions')).json()).links.map(l => l.conditions).join())()"
                ) == "EDGE"
            }
        }
    }

    @Test(.timeLimit(.minutes(10))) func mediaFilesAreDownloadedAndPlayedWithoutTheirOrigin() async throws {
        try await onStage { stage in
            try await stage.page.click("article[data-stream-id=movie] [data-action=download]")
            try await eventually("the file is downloaded") { try await stage.state("movie") == "downloaded" }
            await stage.origin.stop()
            try await stage.page.click("article[data-stream-id=movie] [data-action=play-offline]")
            try await stage.video.waitUntilPlaying()
            #expect(abs(try await stage.video.duration - 30) < 0.2)
            for time in [2.0, 25.0] { try await expectFrame(time, shows: time, stage.video) }
        }
    }

    /// Chromium has no selection of audio: the server leaves the other languages out.
    @Test(.timeLimit(.minutes(10))) func audioIsSelectedByLanguage() async throws {
        try await onStage { stage in
            try await play("fmp4", on: stage)
            try await eventually("the languages are offered") {
                try await stage.page.text("[...document.querySelector('#audio').options].map(o => o.text).join()")
                    == "Default,English,Korean"
            }
            _ = try await stage.page.evaluate("void (video.currentTime = 30)")
            stage.origin.clearPaths()
            try await stage.page.choose("Korean", in: "#audio")
            try await eventually("the Korean audio is loaded") {
                stage.origin.paths.contains { $0.contains("audio-ko") && $0.hasSuffix(".m4s") }
            }
            try await stage.video.waitUntilPlaying()
            let address = try await stage.page.text("document.querySelector('#playback-url').value")
            #expect(address.contains("audio-languages=ko"), "\(address)")
            #expect(try await stage.page.number("video.currentTime") > 25, "the position stays")
            try await stage.page.choose("Default", in: "#audio")
            try await eventually("the edit is removed") {
                try await !stage.page.text("document.querySelector('#playback-url').value").contains("audio-languages")
            }
        }
    }

    /// A script that makes the browser one without HLS, in which the page plays streams by Media Source Extensions.
    static let withoutHLS = """
        HTMLMediaElement.prototype.canPlayType = (original => function (type) {
          return type.includes('mpegurl') ? '' : original.call(this, type)
        })(HTMLMediaElement.prototype.canPlayType)
        """

    /// Returns the texts of the subtitles that are shown.
    private func shownSubtitles(_ stage: Stage) async throws -> String {
        try await stage.page.text(
            "[...video.textTracks].filter(t => t.mode === 'showing').flatMap(t => [...t.activeCues]).map(c => c.text).join()"
        )
    }

    @Test(.timeLimit(.minutes(10)), arguments: [nil, withoutHLS])
    func subtitlesAreShown(script: String?) async throws {
        let catalog: (RecordingOrigin) -> String = { origin in
            let source = origin.address("fmp4/multivariant.m3u8")
            return """
                [{"id": "cut", "name": "cut", "url": "\(source)",
                  "edits": [{"name": "start", "value": "20"}, {"name": "append", "value": "\(source)"}]}]
                """
        }
        try await onStage(catalog: catalog, before: script) { stage in
            try await play("cut", on: stage)
            try await eventually("the languages are offered") {
                try await stage.page.text("[...document.querySelector('#subtitles').options].map(o => o.text).join()")
                    == "Off,English,Korean"
            }
            try await stage.page.choose("English", in: "#subtitles")
            // The part begins at 20 s, and the appended stream at 40 s; each second has a cue.
            for (time, text) in [(10.5, "English caption 30 s"), (45.5, "English caption 5 s")] {
                _ = try await stage.page.evaluate("void (video.currentTime = \(time), video.pause())")
                try await eventually("\(text) is shown") { try await shownSubtitles(stage) == text }
            }
            try await stage.page.choose("Korean", in: "#subtitles")
            try await eventually("the other language is shown") {
                try await shownSubtitles(stage).contains(/^[^A-Za-z]*5[^A-Za-z]*$/)
            }
            try await stage.page.choose("Off", in: "#subtitles")
            #expect(try await shownSubtitles(stage).isEmpty)
        }
    }

    /// The page plays live streams with subtitles, since it does not know which part the browser itself plays.
    @Test(.timeLimit(.minutes(10))) func subtitlesOfLiveStreamsAreShown() async throws {
        let catalog: (RecordingOrigin) -> String = { origin in
            """
            [{"id": "live", "name": "live", "channel": ["\(origin.address("fmp4/multivariant.m3u8"))"], "loop": true},
             {"id": "plain", "name": "plain", "channel": ["\(origin.address("ad/multivariant.m3u8"))"], "loop": true}]
            """
        }
        try await onStage(catalog: catalog) { stage in
            try await play("plain", on: stage)
            let method = "document.querySelector('#playback-method').value"
            // The page would have replaced the browser by then.
            try await Task.sleep(for: .seconds(3))
            #expect(try await stage.page.text(method) == "browser")
            try await play("live", on: stage)
            try await eventually("the page plays") { try await stage.page.text(method) == "media-source" }
            try await stage.page.choose("English", in: "#subtitles")
            try await eventually("a caption is shown") {
                try await shownSubtitles(stage).contains(/English caption \d+ s/)
            }
            // The caption names the second of the program that the picture shows, from 0.2 s after its beginning to 0.1 s after its end.
            let time = try await stage.video.currentTime
            let shown = Double(try await stage.video.strip(at: time).frame) / Samples.frameRate
            let middle = time + 0.6 - (shown - shown.rounded(.down))
            let second = Int(Double(try await stage.video.strip(at: middle).frame) / Samples.frameRate)
            try await eventually("the caption of second \(second) is shown") {
                try await shownSubtitles(stage) == "English caption \(second) s"
            }
            // The user's choice holds for this stream and later ones.
            try await stage.page.choose("browser", in: "#playback-method")
            try await stage.video.waitUntilPlaying()
            try await Task.sleep(for: .seconds(3))
            #expect(try await stage.page.text(method) == "browser")
            #expect(try await !stage.page.text("video.currentSrc").hasPrefix("blob:"))
        }
    }

    /// The browser goes on with a live stream with subtitles that the page cannot play.
    @Test(.timeLimit(.minutes(10))) func liveStreamThatThePageCannotPlayIsPlayedByTheBrowser() async throws {
        let catalog: (RecordingOrigin) -> String = { origin in
            """
            [{"id": "live", "name": "live", "channel": ["\(origin.address("fmp4/multivariant.m3u8"))"], "loop": true}]
            """
        }
        let script = """
            window.sources = 0
            MediaSource.isTypeSupported = () => { window.sources += 1; return false }
            """
        try await onStage(catalog: catalog, before: script) { stage in
            try await play("live", on: stage)
            try await eventually("the page has tried to play it") { try await stage.page.isTrue("window.sources > 0") }
            try await stage.video.waitUntilPlaying()
            let position = try await stage.video.currentTime
            try await eventually("it plays on") { try await stage.video.currentTime > position + 2 }
            #expect(try await stage.page.text("document.querySelector('#playback-method').value") == "browser")
            #expect(try await stage.page.isTrue("document.querySelector('#playback-error').hidden"))
        }
    }

    @Test(.timeLimit(.minutes(10))) func audioIsSelectedWhileThePagePlays() async throws {
        try await onStage(before: Self.withoutHLS) { stage in
            try await play("fmp4", on: stage)
            _ = try await stage.page.evaluate(
                "video.addEventListener('loadstart', () => video.dataset.reloaded = 'yes')"
            )
            #expect(!stage.origin.paths.contains { $0.contains("audio-ko") && $0.hasSuffix(".m4s") })
            try await stage.page.choose("Korean", in: "#audio")
            try await eventually("the Korean audio is loaded") {
                stage.origin.paths.contains { $0.contains("audio-ko") && $0.hasSuffix(".m4s") }
            }
            let position = try await stage.video.currentTime
            try await eventually("it plays on") { try await stage.video.currentTime > position + 2 }
            #expect(try await stage.page.isTrue("video.dataset.reloaded === undefined"))
        }
    }

    @Test(.timeLimit(.minutes(10))) func stitchedStreamsAndChannelsPlayInABrowserWithoutHLS() async throws {
        let catalog: (RecordingOrigin) -> String = { origin in
            let (program, advertisement) = (
                origin.address("ts/multivariant.m3u8"), origin.address("ad/multivariant.m3u8")
            )
            return """
                [{"id": "stitched", "name": "stitched", "url": "\(program)",
                  "edits": [{"name": "prepend", "value": "\(advertisement)"}]},
                 {"id": "channel", "name": "channel", "channel": ["\(advertisement)"], "loop": true}]
                """
        }
        try await onStage(catalog: catalog, before: Self.withoutHLS) { stage in
            try await play("stitched", on: stage)
            try await expectMediaSource(stage)
            try await expectFrame(18.5, shows: 18.5, stage.video)
            _ = try await stage.page.evaluate("void video.play()")
            try await eventually("it plays over the seam") { try await stage.video.currentTime > 21.5 }
            for time in [22.0, 60.0, 5.0] {
                try await expectFrame(time, shows: time < 20 ? time : time - 20, stage.video)
            }
            try await play("channel", on: stage)
            let start = try await stage.video.currentTime
            try await eventually("the channel goes on") { try await stage.video.currentTime > start + 10 }
            #expect(try await stage.page.isTrue("video.duration === Infinity && video.seekable.length > 0"))
        }
    }

    @Test(.timeLimit(.minutes(10))) func conditionsAndFailuresReachAPageThatPlays() async throws {
        try await onStage(before: Self.withoutHLS) { stage in
            try await stage.page.choose("WiFi", in: "#network")
            try await play("ts", on: stage)
            let transmitted = """
                (async () => Math.max(...(await (await fetch('/api/conditions')).json()).links.map(l => l.transmittedBytes)))()
                """
            #expect(try await stage.page.number(transmitted) > 100_000)
            await stage.origin.stop()
            _ = try await stage.page.evaluate("void (video.currentTime = 65)")
            try await eventually("the page says that the origin is not reachable", within: .seconds(60)) {
                try await stage.page.text("document.querySelector('#playback-error').innerText").contains("Try again")
            }
        }
    }

    @Test(.timeLimit(.minutes(10))) func playerOfThePageIsSelectedInBrowsersWithHLS() async throws {
        try await onStage { stage in
            try await play("ts", on: stage)
            #expect(try await !stage.page.text("video.currentSrc").hasPrefix("blob:"))
            try await stage.page.choose("media-source", in: "#playback-method")
            try await eventually("the page plays") { try await stage.page.text("video.currentSrc").hasPrefix("blob:") }
            try await stage.video.waitUntilPlaying()
            try await expectFrame(20.5, shows: 20.5, stage.video)
        }
    }

    @Test(.timeLimit(.minutes(10))) func playbackWithBitRateLimitsRequestsOnlyTheSelectedVariants() async throws {
        try await onStage { stage in
            try await play("ts", on: stage)
            let ladder = try await stage.page.text(
                "[...document.querySelectorAll('#quality-minimum option')].map(o => o.value).filter(v => v).join(' ')"
            ).split(separator: " ").compactMap { Int($0) }
            let kept = ladder.filter { (900_000...4_000_000).contains($0) }
            let (low, high) = (try #require(kept.min()), try #require(kept.max()))
            #expect(ladder.count == 5 && kept.count == 3)
            stage.origin.clearPaths()
            try await stage.page.choose("\(low)", in: "#quality-minimum")
            try await stage.page.choose("\(high)", in: "#quality-maximum")
            try await eventually("the address names the limits") {
                try await stage.page.text("document.querySelector('#playback-url').value")
                    .contains("bandwidth=\(low)...\(high)")
            }
            stage.origin.clearPaths()
            try await stage.video.waitUntilPlaying()
            for time in [5.0, 35.0, 65.0] { try await expectFrame(time, shows: time, stage.video) }
            let media = stage.origin.paths.filter { $0.hasPrefix("ts/") && $0 != "ts/multivariant.m3u8" }
            let folders = Set(media.map { $0.split(separator: "/")[1] })
            #expect(!folders.isEmpty && folders.isSubset(of: ["360p", "480p", "720p"]), "\(folders)")
        }
    }

    @Test(.timeLimit(.minutes(10))) func everyEditHasAControl() async throws {
        try await onStage { stage in
            try await play("ts", on: stage)
            let names = try await stage.page.text(
                "fetch('/api/edits').then(r => r.json()).then(a => a.edits.map(e => e.name).join(' '))"
            )
            .split(separator: " ").map(String.init)
            #expect(names.count >= 11)
            // The ids in the page are unique, and each edit has a control that changes the playback URL.
            #expect(
                try await stage.page.isTrue(
                    "(ids => new Set(ids).size === ids.length)([...document.querySelectorAll('[id]')].map(e => e.id))"
                )
            )
            try await stage.page.click("#more-edits summary")
            try await stage.page.choose("ad", in: "#append")
            let source = stage.origin.address("ts/multivariant.m3u8")
            for name in names where !["bandwidth", "duration", "append"].contains(name) {
                let before = try await stage.page.text("document.querySelector('#playback-url').value")
                _ = try await stage.page.evaluate(
                    """
                    (() => {
                      const set = (field) => {
                        if (field.type === 'checkbox') field.checked = true
                        else if (field.tagName === 'SELECT') field.value = 'ad'
                        else field.value = field.placeholder.replace('e.g. ', '')
                        field.dispatchEvent(new Event('change', {bubbles: true}))
                      }
                      const field = document.getElementById('\(name)')
                      field.closest('.field, .checkbox').querySelectorAll('input, select').forEach(set)
                    })()
                    """
                )
                try await eventually("\(name) changes the playback URL") {
                    let url = try await stage.page.text("document.querySelector('#playback-url').value")
                    return url != before && url.contains("&\(name)")
                }
                // The server accepts the value; not all edits at once, which are more than its limit.
                let status = try await stage.page.number(
                    """
                    (url => fetch('/play.m3u8?url=\(source)&\(name)='
                      + encodeURIComponent(new URL(url, location).searchParams.get('\(name)'))).then(r => r.status)
                    )(document.querySelector('#playback-url').value)
                    """
                )
                // The variants of the sample have no scores, so that none would remain.
                #expect(status == (name == "score" ? 400 : 200), "\(name)")
            }
            let url = try await stage.page.text("document.querySelector('#playback-url').value")
            let parameters = try #require(URLComponents(string: url)?.queryItems).map(\.name)
            #expect(parameters == ["url"] + names.filter { $0 != "bandwidth" && $0 != "duration" })
            #expect(try await stage.page.number("fetch('\(url)').then(r => r.status)") == 413)
            // Another stream is not edited.
            try await play("fmp4", on: stage)
            let other = try await stage.page.text("document.querySelector('#playback-url').value")
            #expect(URLComponents(string: other)?.queryItems?.map(\.name) == ["url"])
        }
    }

    @Test(.timeLimit(.minutes(10))) func bandwidthLimitOfTheServerSelectsTheSameVariants() async throws {
        try await onStage { stage in
            let source = stage.origin.address("ts/multivariant.m3u8")
            let text = try await stage.page.text(
                "fetch('/play.m3u8?url=' + encodeURIComponent('\(source)') + '&bandwidth=900k...4M').then(r => r.text())"
            )
            let rates = text.matches(of: /#EXT-X-STREAM-INF:BANDWIDTH=([0-9]+)/).compactMap { Int($0.1) }
            #expect(rates.count == 3 && rates.allSatisfy { (900_000...4_000_000).contains($0) })
        }
    }

    @Test(.timeLimit(.minutes(10))) func previewEndsBeforeItsLimit() async throws {
        try await onStage { stage in
            try await play("ts", on: stage)
            try await stage.page.choose("30", in: "#preview")
            try await eventually("the preview is loaded") {
                let duration = try await stage.video.duration
                return duration >= 29.9 && duration <= 30.0
            }
            try await expectFrame(29.5, shows: 29.5, stage.video)
        }
    }

    @Test(.timeLimit(.minutes(10))) func appendedAdvertisementPlaysAfterTheDiscontinuity() async throws {
        try await onStage { stage in
            try await play("ts", on: stage)
            try await stage.page.choose("30", in: "#preview")
            try await stage.page.choose("ad", in: "#append")
            try await eventually("both are loaded") { abs(try await stage.video.duration - 50) < 0.2 }
            try await expectFrame(28.0, shows: 28.0, stage.video)
            // Play across the discontinuity instead of seeking.
            _ = try await stage.page.evaluate("document.querySelector('#video').play()")
            try await eventually("it plays over the seam") { try await stage.video.currentTime > 31.5 }
            #expect(stage.origin.paths.contains { $0.hasPrefix("ad/") && $0.hasSuffix(".ts") })
            for time in [33.0, 48.5] { try await expectFrame(time, shows: time - 30, stage.video) }
        }
    }

    @Test(
        .timeLimit(.minutes(10)),
        arguments: ["ts", "fmp4", "aes", "byterange", "dash-number", "dash-timeline", "dash-ondemand"]
    )
    func downloadedStreamPlaysAfterItsOriginStops(stream: String) async throws {
        try await onStage { stage in
            #expect(try await stage.state(stream) == "remote")
            try await stage.page.click("article[data-stream-id=\(stream)] [data-action=download]")
            try await eventually("it is kept", within: .seconds(90)) { try await stage.state(stream) == "downloaded" }
            await stage.origin.stop()
            let card = "article[data-stream-id=\(stream)]"
            try await stage.page.click("\(card) [data-action=play-offline]")
            try await stage.video.waitUntilPlaying()
            for time in [1.5, 30.25, stream.hasPrefix("dash") ? 38.0 : 58.0] {
                try await expectFrame(time, shows: time, stage.video)
            }
            #expect(try await stage.page.text("document.querySelector('#now-playing').dataset.origin") == "offline")
            // Verify that the origin is not available.
            try await stage.page.click("\(card) [data-action=play]")
            try await eventually("the failure is told") {
                try await stage.page.text("document.querySelector('#playback-error').textContent")
                    .contains("The origin is not responding.")
            }
            // The downloaded copy plays after the failure of the origin.
            try await stage.page.click("#play-offline-copy")
            try await stage.video.waitUntilPlaying()
            #expect(try await stage.page.text("document.querySelector('#now-playing').dataset.origin") == "offline")
        }
    }

    @Test(.timeLimit(.minutes(10))) func simulatedChannelPlays() async throws {
        let catalog: (RecordingOrigin) -> String = { origin in
            """
            [{"name": "channel", "channel": ["\(origin.address("ad/multivariant.m3u8"))"], "loop": true}]
            """
        }
        try await onStage(catalog: catalog) { stage in
            #expect(try await stage.page.isTrue("!document.querySelector('[data-action=download]:not([hidden])')"))
            try await play("channel", on: stage)
            let start = try await stage.video.currentTime
            // The playlist has to be loaded again for this.
            try await eventually("the channel goes on") { try await stage.video.currentTime > start + 10 }
            #expect(stage.origin.paths.contains { $0.hasSuffix(".ts") })
        }
    }

    @Test(.timeLimit(.minutes(10))) func faultsAreChangedInTheConsole() async throws {
        try await onStage { stage in
            let page = stage.page
            try await play("ts", on: stage)
            try await page.click("#faults summary")
            let count = "document.querySelector('#faults-count').textContent"
            try await setFaults("path=*/fmp4/multivariant.m3u8&status=503", on: page)
            try await eventually("the fault applies") { try await page.text(count) == "1" }
            // A request of the page would be an error on the console of the browser.
            let url = "\(stage.address)play.m3u8?url=\(stage.origin.address("fmp4/multivariant.m3u8"))"
            func status() async throws -> Int? {
                let (_, response) = try await URLSession.shared.data(from: try #require(URL(string: url)))
                return (response as? HTTPURLResponse)?.statusCode
            }
            #expect(try await status() == 503)
            try await page.click("#remove-faults")
            try await eventually("the fault is removed") { try await page.text(count) == "0" }
            #expect(try await status() == 200)
        }
    }

    /// A download of a time range is shown as such, not as that of the whole stream.
    @Test(.timeLimit(.minutes(10))) func downloadedPartIsShownWithItsRange() async throws {
        try await onStage { stage in
            let program = try RunningProgram([
                "download", stage.origin.address("ts/multivariant.m3u8"), "--range", "20...40", "--variants", "lowest",
                "--library", stage.library.path,
            ])
            #expect(try await program.finish() == 0, "\(program.standardError)")
            let badges = "[...document.querySelectorAll('article[data-stream-id=ts] .badge, tr[data-asset-id] .badge')]"
            try await eventually("the part is shown") {
                try await stage.page.text("\(badges).map(badge => badge.textContent).join(',')")
                    == "Part 00:20 to 00:40,Part 00:20 to 00:40"
            }
            // It has the same size in both lists, and a narrow window does not scroll sideways.
            let size = "document.querySelector('tr[data-asset-id] td[data-label=Size]').textContent"
            try await eventually("the size is that of the section “Storage”") {
                try await stage.page.isTrue("\(size) === document.querySelector('#storage-assets .size')?.textContent")
            }
            try await play("ts", on: stage)
            try await stage.page.setWidth(320)
            #expect(try await stage.page.isTrue("document.documentElement.scrollWidth <= innerWidth"))
        }
    }

    @Test(.timeLimit(.minutes(10))) func downloadCanBeCancelledResumedAndDeleted() async throws {
        try await onStage { stage in
            let card = "article[data-stream-id=ts]"
            stage.origin.delay = .milliseconds(300)
            try await stage.page.click("\(card) [data-action=download]")
            try await eventually("some of it is there") {
                try await stage.page.number("(p => p ? p.value : 0)(document.querySelector('\(card) progress'))") > 0
            }
            try await stage.page.click("\(card) [data-action=cancel]")
            try await eventually("it stops") { try await stage.state("ts") == "partial" }
            stage.origin.delay = .zero
            // All I-frames are ranges of one file.
            func segments() -> Set<String> {
                Set(stage.origin.paths.filter { $0.hasSuffix(".ts") && !$0.contains("iframe") })
            }
            let fetched = segments()
            #expect(!fetched.isEmpty)
            stage.origin.clearPaths()
            try await stage.page.click("\(card) [data-action=resume]")
            try await eventually("it is kept") { try await stage.state("ts") == "downloaded" }
            let again = segments()
            // Only transfers that were in progress may be fetched twice.
            #expect(again.intersection(fetched).count <= 6 && again.union(fetched).count == 12)
            try await stage.page.click("\(card) [data-action=delete]")
            try await stage.page.click("dialog [data-action=confirm-delete], \(card) [data-action=confirm-delete]")
            try await eventually("it is gone") { try await stage.state("ts") == "remote" }
        }
    }
}

extension Tag {
    /// Tests that require sockets, processes or a browser.
    @Tag static var endToEnd: Self
}
