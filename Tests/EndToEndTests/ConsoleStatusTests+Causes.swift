import Foundation
import MediaTiming
import TestSamples
import Testing

/// Tests what the console says and does if something cannot be played, and what it offers without a catalog.
extension ConsoleStatusTests {
    /// An expression for the text of the error that the page shows.
    static let error = "document.querySelector('#playback-error').innerText"

    /// A new directory, which is deleted after a test.
    private func withFolder(_ act: (URL) async throws -> Void) async throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("files-\(UUID())")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        try await act(folder)
    }

    private func fill(_ selector: String, with text: String, _ stage: Stage) async throws {
        _ = try await stage.page.evaluate(
            """
            (field => {
              field.value = '\(text)'
              field.dispatchEvent(new Event('input', {bubbles: true}))
              field.dispatchEvent(new Event('change', {bubbles: true}))
            })(document.querySelector('\(selector)'))
            """
        )
    }

    // MARK: Media files

    /// A file that begins like an MP4 file and that no browser can read is not loaded to find the cause.
    @Test(.timeLimit(.minutes(10))) func fileThatTheBrowserCannotReadIsExplained() async throws {
        try await withFolder { folder in
            let file = folder.appendingPathComponent("film.mp4")
            try Data([0, 0, 0, 16] + Array("ftypisom".utf8) + [0, 0, 0, 1]).write(to: file)
            let size: UInt64 = 1 << 30
            let handle = try FileHandle(forWritingTo: file)
            try handle.truncate(atOffset: size)
            try handle.close()
            let catalog: (RecordingOrigin) -> String = { origin in
                #"[{"id": "film", "name": "film", "url": "\#(origin.address("film.mp4"))"}]"#
            }
            try await ConsoleStage.run(from: folder, catalog: catalog) { stage in
                try await stage.page.click("article[data-stream-id=film] [data-action=play]")
                try await eventually("the cause is told") {
                    try await stage.page.text(Self.error).contains("The media file cannot be played.")
                }
                let text = try await stage.page.text(Self.error)
                #expect(
                    text.contains("This browser might not support the format or the codecs of the file."),
                    "\(text)"
                )
                #expect(!text.contains("playlist") && !text.contains("not responding"), "\(text)")
                let sent = try await stage.page.number(
                    """
                    (async () => Math.max(...(await (await fetch('/api/conditions')).json()).links.map(l => l.transmittedBytes)))()
                    """
                )
                #expect(sent < Double(size) / 4, "\(sent) bytes were sent")
                // A file that the origin does not have has another cause.
                try FileManager.default.removeItem(at: file)
                try await stage.page.click("#try-again")
                try await eventually("the other cause is told") {
                    try await stage.page.text(Self.error).contains("404")
                }
            }
        }
    }

    /// The bytes tell what is a media file, not only the extension.
    @Test(.timeLimit(.minutes(10))) func mediaFileWithoutAnExtensionIsOpened() async throws {
        try await withFolder { folder in
            let movie = try #require(Samples.directory).appendingPathComponent("movie.mp4")
            try FileManager.default.copyItem(at: movie, to: folder.appendingPathComponent("video"))
            try await ConsoleStage.run(["--allow-host", "127.0.0.1"], from: folder, catalog: { _ in "[]" }) { stage in
                try await fill("#open-url-field", with: stage.origin.address("video") + "?id=1", stage)
                try await stage.page.click("#open-url [type=submit]")
                try await stage.video.waitUntilPlaying()
                #expect(abs(try await stage.video.duration - 30) < 0.2)
                #expect(try await stage.page.isTrue("document.querySelector('#quality-minimum').disabled"))
            }
        }
    }

    /// A stream of the catalog whose bytes tell that it is a media file is played as one, whatever was selected for it before.
    @Test(.timeLimit(.minutes(10))) func mediaFileOfTheCatalogWithoutAnExtensionIsPlayed() async throws {
        try await withFolder { folder in
            let movie = try #require(Samples.directory).appendingPathComponent("movie.mp4")
            try FileManager.default.copyItem(at: movie, to: folder.appendingPathComponent("video"))
            let catalog: (RecordingOrigin) -> String = { origin in
                #"[{"id": "video", "name": "video", "url": "\#(origin.address("video"))"}]"#
            }
            // An edit is selected while the stream is inspected.
            let script = """
                window.fetch = (original => async (url, ...rest) => {
                  if (String(url).startsWith('/api/inspect')) {
                    const field = document.querySelector('#append')
                    field.value = ':url'
                    await new Promise(resolve => setTimeout(resolve, 500))
                  }
                  return original(url, ...rest)
                })(window.fetch)
                """
            try await ConsoleStage.run(from: folder, catalog: catalog, before: script) { stage in
                try await play("video", on: stage)
                #expect(abs(try await stage.video.duration - 30) < 0.2)
                #expect(try await stage.page.isTrue("document.querySelector('#quality-minimum').disabled"))
                #expect(try await stage.page.text("document.querySelector('#append').value").isEmpty)
                #expect(try await stage.page.isTrue("document.querySelector('#playback-error').hidden"))
                #expect(
                    try await !stage.page.text("document.querySelector('#edits').innerText").contains("single quality")
                )
            }
        }
    }

    // MARK: Failures to open a stream

    /// The stream that was played before does not go on under the title of one that cannot be opened.
    @Test(.timeLimit(.minutes(10))) func streamThatCannotBeOpenedEndsTheOneBefore() async throws {
        let script = """
            window.fetch = (original => (url, ...rest) => window.isBroken && String(url).includes('/api/playback-address')
              ? Promise.reject(new TypeError('no connection')) : original(url, ...rest))(window.fetch)
            """
        try await onStage(before: script) { stage in
            try await play("ts", on: stage)
            _ = try await stage.page.evaluate("void (window.isBroken = true)")
            try await stage.page.click("article[data-stream-id=movie] [data-action=play]")
            try await eventually("the failure is told") {
                try await stage.page.text(Self.error).contains("The server is not responding.")
            }
            #expect(try await stage.page.isTrue("!video.getAttribute('src') && video.readyState === 0"))
            #expect(try await stage.page.text("document.querySelector('#playback-url').value").isEmpty)
            #expect(try await stage.page.isTrue("document.querySelector('#copy-url').disabled"))
            _ = try await stage.page.evaluate("void (window.isBroken = false)")
            try await stage.page.click("#try-again")
            try await stage.video.waitUntilPlaying()
            #expect(abs(try await stage.video.duration - 30) < 0.2)
            #expect(try await stage.page.isTrue("document.querySelector('#playback-error').hidden"))
            #expect(try await stage.page.isTrue("!document.querySelector('#copy-url').disabled"))
        }
    }

    /// The page names the segment, the status and the simulated fault, and no longer says that playback waits.
    @Test(.timeLimit(.minutes(10))) func faultIsExplainedWhileThePagePlays() async throws {
        try await onStage(before: ConsoleTests.withoutHLS) { stage in
            let faults = ["status=403": "status 403: this fault is simulated.", "page": "but is text/html"]
            for (fault, cause) in faults {
                let change = "import('/console/api.js').then(api => api.changeFaults(['path=*.ts&\(fault)']))"
                _ = try await stage.page.evaluate(change)
                try await stage.page.click("article[data-stream-id=ts] [data-action=play]")
                try await eventually("the cause is told") { try await stage.page.text(Self.error).contains(cause) }
                let text = try await stage.page.text(Self.error)
                #expect(text.contains("Segment 0 of the playlist cannot be played."), "\(text)")
                #expect(text.contains("Remove simulated faults under “Simulated faults”"), "\(text)")
                #expect(text.contains("/media.m3u8"), "\(text)")
                #expect(try await stage.page.isTrue("document.querySelector('#waiting-note').hidden"))
            }
        }
    }

    // MARK: Simulated networks

    /// Runs a script in the page in which the server has the conditions EDGE; `respond(url)` answers all other requests.
    private func simulated(_ script: String, _ stage: Stage) async throws -> String {
        try await stage.page.text(
            """
            (async () => {
              const playlist = '#EXTM3U\\n#EXT-X-TARGETDURATION:4\\n#EXTINF:4,\\n0.ts\\n#EXT-X-ENDLIST\\n'
              const original = window.fetch
              let respond
              window.fetch = (url, options = {}) => String(url) === '/api/conditions'
                ? Promise.resolve(new Response('{"shared": "EDGE", "links": []}'))
                : String(url).startsWith('/api/faults') || String(url).endsWith('.js') ? original(url, options)
                : respond(String(url), options)
              try {
                \(script)
              } finally {
                window.fetch = original
              }
            })()
            """
        )
    }

    /// A lost connection and a slow response are no outage.
    @Test(.timeLimit(.minutes(10))) func onlyAnOutageOfTheSimulatedNetworkIsCalledOne() async throws {
        try await onStage { stage in
            let text = try await simulated(
                """
                const {diagnosePlaybackError} = await import('/console/playback-diagnosis.js')
                respond = (url, {signal}) => new Promise((resolve, reject) => {
                  if (url.includes('lost')) reject(new TypeError('lost'))
                  if (url.includes('slow')) setTimeout(() => resolve(new Response(playlist)), 12000)
                  signal?.addEventListener('abort', () => reject(signal.reason))
                })
                const details = {origin: 'remote', isFile: false, isProxied: true}
                const names = ['lost', 'slow', 'silent']
                const all = await Promise.all(names.map(name => diagnosePlaybackError(`/play.m3u8?url=${name}`, null, details)))
                return all.map(({message, conditions}) => `${message} ${conditions}`).join('|')
                """,
                stage
            )
            #expect(
                text.split(separator: "|") == [
                    "The transfer from the server ended before it was complete. undefined",
                    "The playlists were loaded, but the media cannot be played. undefined",
                    "Nothing arrives over the simulated network “EDGE”. EDGE",
                ],
                "\(text)"
            )
        }
    }

    /// A transfer that ends early, even late, is not repeated for ever; one that does not begin is, since it can be an outage.
    @Test(.timeLimit(.minutes(10))) func responseThatIsNotCompleteIsRequestedTwice() async throws {
        try await onStage { stage in
            let text = try await simulated(
                """
                const {fetchPlaylist} = await import('/console/browser-playback.js')
                const now = performance.now
                let time = 0
                performance.now = () => time += 50000
                const counts = []
                for (const hasResponse of [true, false]) {
                  const controller = new AbortController()
                  let count = 0
                  respond = async () => {
                    if (++count === 5) controller.abort()
                    controller.signal.throwIfAborted()
                    if (!hasResponse) throw new TypeError('nothing')
                    return {ok: true, json: () => Promise.reject(new TypeError('interrupted'))}
                  }
                  await fetchPlaylist('/play.m3u8?url=x', controller.signal).catch(error => counts.push(count, error.message))
                }
                performance.now = now
                return counts.slice(0, 3).join('|')
                """,
                stage
            )
            #expect(text == "2|The transfer from the server ended before it was complete.|5", "\(text)")
        }
    }

    /// The conditions of a file can be selected like the presets, and change without a reload.
    @Test(.timeLimit(.minutes(10))) func conditionsOfAFileChangeDuringPlayback() async throws {
        try await withFolder { folder in
            let file = folder.appendingPathComponent("mine.json")
            try Data(#"{"name": "my network", "down": {"latency": 0.01}}"#.utf8).write(to: file)
            try await onStage(["--conditions", file.path]) { stage in
                try await play("ts", on: stage)
                #expect(
                    try await stage.page.text("document.querySelector('#network').selectedOptions[0].text")
                        == "Server default (my network)"
                )
                #expect(try await conditions(stage) == "my network")
                _ = try await stage.page.evaluate(
                    "video.addEventListener('loadstart', () => video.dataset.reloaded = 'yes')"
                )
                for selected in ["WiFi", ""] {
                    try await stage.page.choose(selected, in: "#network")
                    try await eventually("the link is changed") {
                        try await conditions(stage) == (selected.isEmpty ? "my network" : selected)
                    }
                }
                #expect(try await stage.page.isTrue("video.dataset.reloaded === undefined"))
                // After a change for all streams, the conditions of the file are still offered.
                let shared = "(async () => (await (await fetch('/api/conditions')).json()).shared)()"
                for selected in ["DSL", "my network"] {
                    try await stage.page.choose(selected, in: "#networks-list li:first-child select")
                    try await eventually("the network of all streams is \(selected)") {
                        try await stage.page.text(shared) == selected
                    }
                }
            }
        }
    }

    /// A stream that is selected before the conditions are known has those of the server, and does not name them.
    @Test(.timeLimit(.minutes(10))) func streamThatIsPlayedEarlyHasTheConditionsOfTheServer() async throws {
        let script = """
            window.fetch = (original => async (url, ...rest) => {
              if (url === '/api/conditions' && !window.isDelayed) {
                window.isDelayed = true
                await new Promise(resolve => setTimeout(resolve, 3000))
              }
              return original(url, ...rest)
            })(window.fetch)
            addEventListener('DOMContentLoaded', () => {
              const timer = setInterval(() => {
                const button = document.querySelector('article[data-stream-id=ts] [data-action=play]')
                if (!button) return
                clearInterval(timer)
                button.click()
              }, 20)
            })
            """
        try await onStage(["--conditions", "WiFi"], before: script) { stage in
            try await stage.video.waitUntilPlaying()
            #expect(try await conditions(stage) == "WiFi")
            #expect(
                try await !stage.page.text("document.querySelector('#playback-url').value").contains("conditions=")
            )
        }
    }

    // MARK: Inserted streams

    /// Segments of MPEG-TS cannot follow those of fragmented MP4, which the menu says when it is opened.
    @Test(.timeLimit(.minutes(10))) func streamsThatCannotBeStitchedAreNotOffered() async throws {
        try await onStage { stage in
            let menu = "document.querySelector('#append')"
            let option = "document.querySelector('#append option[value=ad]')"
            let note = "document.querySelector('#append-note')"
            try await play("fmp4", on: stage)
            _ = try await stage.page.evaluate("void \(menu).dispatchEvent(new Event('focus'))")
            try await eventually("the advertisement is disabled") { try await stage.page.isTrue("\(option).disabled") }
            #expect(try await stage.page.text("\(option).textContent").hasSuffix(" (cannot be stitched)"))
            #expect(try await stage.page.text("\(note).textContent").contains("EXT-X-MAP"))
            #expect(try await !stage.page.isTrue("document.querySelector('#append option[value=fmp4]').disabled"))
            // Another stream has other segments.
            try await play("ts", on: stage)
            try await eventually("it is offered again") { try await !stage.page.isTrue("\(option).disabled") }
            #expect(try await stage.page.isTrue("\(note).hidden"))
        }
    }

    /// Without a catalog, a stream at any URL can be appended and inserted.
    @Test(.timeLimit(.minutes(10))) func streamsOfAnyURLAreInserted() async throws {
        try await onStage(["--allow-host", "127.0.0.1"], catalog: { _ in "[]" }) { stage in
            let (program, advertisement) = (
                stage.origin.address("ts/multivariant.m3u8"), stage.origin.address("ad/multivariant.m3u8")
            )
            try await fill("#open-url-field", with: program, stage)
            try await stage.page.click("#open-url [type=submit]")
            try await stage.video.waitUntilPlaying()
            func url() async throws -> String {
                try await stage.page.text("document.querySelector('#playback-url').value")
            }
            let plain = try await url()
            #expect(try await stage.page.isTrue("document.querySelector('#append-url').hidden"))
            try await stage.page.choose(":url", in: "#append")
            #expect(try await stage.page.isTrue("!document.querySelector('#append-url').hidden"))
            try await fill("#append-url", with: "file:///x", stage)
            #expect(try await stage.page.isTrue("document.querySelector('#append-url[aria-invalid=true]')"))
            #expect(
                try await stage.page.text("document.querySelector('#messages').innerText")
                    .contains("the URL must start with http:// or https://.")
            )
            #expect(try await url() == plain)
            try await fill("#append-url", with: advertisement, stage)
            try await eventually("it is appended") { abs(try await stage.video.duration - 92) < 0.2 }
            #expect(try await !stage.page.isTrue("document.querySelector('#append-url[aria-invalid=true]')"))
            try await stage.page.choose("", in: "#append")
            try await eventually("it is removed") { abs(try await stage.video.duration - 72) < 0.2 }
            // A stream without the time of its insertion changes nothing, and the page says what is missing.
            try await stage.page.click("#more-edits summary")
            try await stage.page.choose(":url", in: "#insert")
            try await fill("#insert-url", with: advertisement, stage)
            #expect(try await stage.page.isTrue("document.querySelector('#insert-time[aria-invalid=true]')"))
            #expect(
                try await stage.page.text("document.querySelector('#messages').innerText")
                    .contains("also requires a time, such as")
            )
            #expect(try await url() == plain)
            try await fill("#insert-time", with: "30", stage)
            try await eventually("it is inserted") { abs(try await stage.video.duration - 92) < 0.2 }
            #expect(try await !stage.page.isTrue("document.querySelector('#insert-time[aria-invalid=true]')"))
            try await expectFrame(33, shows: 3, stage.video)
        }
    }

    // MARK: Live streams

    /// Segments with the same media sequence number have different times if audio and video have other durations.
    @Test(.timeLimit(.minutes(10))) func liveAudioAndVideoAreAlignedByDate() async throws {
        try await withFolder { folder in
            func write(_ name: String, _ text: String) throws {
                try Data(text.utf8).write(to: folder.appendingPathComponent(name))
            }
            for (name, duration) in [("video", 6), ("audio", 4)] {
                let segments = (0..<(600 / duration)).map { "#EXTINF:\(duration),\n\(name)\($0).mp4\n" }.joined()
                try write(
                    "\(name).m3u8",
                    """
                    #EXTM3U
                    #EXT-X-VERSION:6
                    #EXT-X-TARGETDURATION:\(duration)
                    #EXT-X-MAP:URI="\(name).mp4"
                    \(segments)#EXT-X-ENDLIST

                    """
                )
            }
            try write(
                "multivariant.m3u8",
                """
                #EXTM3U
                #EXT-X-VERSION:6
                #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="a",NAME="a",DEFAULT=YES,URI="audio.m3u8"
                #EXT-X-STREAM-INF:BANDWIDTH=1000000,CODECS="avc1.42c00d,mp4a.40.2",AUDIO="a"
                video.m3u8

                """
            )
            let start = ISO8601DateFormatter().string(from: Date(timeIntervalSinceNow: -121))
            let catalog: (RecordingOrigin) -> String = { origin in
                """
                [{"id": "live", "name": "live", "channel": ["\(origin.address("multivariant.m3u8"))"], "start": "\(start)",
                  "window": 60}]
                """
            }
            try await ConsoleStage.run(from: folder, catalog: catalog) { stage in
                let text = try await stage.page.text(
                    """
                    (async () => {
                      const {fetchPlaylist} = await import('/console/browser-playback.js')
                      const {MediaTimeline} = await import('/console/media-timeline.js')
                      const {streams} = await (await fetch('/api/streams')).json()
                      const {variants, renditions} = await fetchPlaylist(streams[0].address)
                      const video = new MediaTimeline(variants[0].address)
                      await video.update()
                      const audio = new MediaTimeline(renditions[0].address, () => video)
                      await audio.update()
                      const first = ({segments}) => [segments[0].sequence, segments[0].start]
                      return [...first(video), ...first(audio)].join(' ')
                    })()
                    """
                )
                let numbers = text.split(separator: " ").compactMap { Double($0) }
                try #require(numbers.count == 4, "\(text)")
                #expect(numbers[0] >= 8 && numbers[2] >= 14, "the window has moved: \(text)")
                // The content of a segment begins at its number times its duration.
                #expect(abs((numbers[3] - numbers[1]) - (numbers[2] * 4 - numbers[0] * 6)) < 0.01, "\(text)")
            }
        }
    }

    /// A clock of the encoder that is set an hour ahead moves no segments by an hour.
    @Test(.timeLimit(.minutes(10))) func stepsOfTheClockDoNotMoveLiveSegments() async throws {
        try await onStage { stage in
            let text = try await stage.page.text(
                """
                (async () => {
                  const {MediaTimeline} = await import('/console/media-timeline.js')
                  // Segments of 4 seconds, whose dates are an hour later from a number on.
                  const playlist = (first, count, step, delay = 0) => ({
                    type: 'media', ended: false, targetDuration: 4,
                    segments: Array.from({length: count}, (_, index) => first + index).map(sequence => ({
                      sequence: sequence + delay, duration: 4, discontinuity: 0, date: sequence * 4 + (sequence < step ? 0 : 3600),
                    })),
                  })
                  const original = window.fetch
                  const responses = []
                  window.fetch = (url, ...rest) => String(url).startsWith('/api/playback/playlist')
                    ? Promise.resolve(new Response(JSON.stringify(responses.shift()))) : original(url, ...rest)
                  const load = async (timeline, ...parameters) => {
                    responses.push(playlist(...parameters))
                    await timeline.update()
                    return timeline
                  }
                  const video = await load(new MediaTimeline('/video'), 100, 6, 1000)
                  const start = (timeline, sequence) => timeline.segments.find(segment => segment.sequence === sequence)?.start
                  const starts = []
                  // The step is in the newest segments, with the same sequence numbers and with others.
                  starts.push(start(await load(new MediaTimeline('/a', () => video), 103, 6, 106), 103))
                  starts.push(start(await load(new MediaTimeline('/b', () => video), 100, 8, 106, 50), 150))
                  // All segments have other dates.
                  starts.push(start(await load(new MediaTimeline('/c', () => video), 104, 6, 0), 104))
                  // Segments were removed without having been seen, with and without a step.
                  await load(video, 108, 6, 1000)
                  starts.push(start(video, 108))
                  await load(video, 116, 6, 114)
                  starts.push(start(video, 116))
                  window.fetch = original
                  return starts.join(' ')
                })()
                """
            )
            #expect(text == "12 0 16 32 64", "\(text)")
        }
    }

    // MARK: Quantities

    @Test(.timeLimit(.minutes(10))) func quantitiesAreWrittenAsByTheCommandLine() async throws {
        try await onStage { stage in
            let sizes: [Int64] = [
                0, 999, 1_000, 1_250_000, 12_340_000, 99_960_000, 345_600_000, 1_000_000_000, 5_678_000_000,
            ]
            let rates: [Int64] = [
                1, 999, 1_000, 999_499, 999_500, 1_250_000, 12_340_000, 345_600_000, 999_949_999, 999_950_000,
            ]
            func written(_ function: String, _ values: [Int64]) async throws -> String {
                try await stage.page.text(
                    "import('/console/format.js').then(m => \(values).map(m.\(function)).join())"
                )
            }
            let writtenSizes = try await written("formatSize", sizes)
            #expect(writtenSizes == sizes.map { ByteCount($0).description }.joined(separator: ","))
            let writtenRates = try await written("formatBitRate", rates)
            #expect(writtenRates == rates.map { BitRate(bitsPerSecond: $0).description }.joined(separator: ","))
            let times = "import('/console/format.js').then(m => [59.4, 59.5, 3723].map(m.formatTime).join())"
            #expect(try await stage.page.text(times) == "00:59,01:00,1:02:03")
        }
    }
}
