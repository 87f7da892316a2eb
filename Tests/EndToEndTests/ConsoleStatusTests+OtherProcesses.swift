import Foundation
import Testing

/// Tests what the console shows of the recordings of other processes, and how long its messages stay.
extension ConsoleStatusTests {
    @Test(.timeLimit(.minutes(10))) func recordingOfAnotherProcessIsShownAsSuchAndContinued() async throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("live-\(UUID())")
        defer { try? FileManager.default.removeItem(at: folder) }
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        try Data("segment".utf8).write(to: folder.appendingPathComponent("0.ts"))
        let playlist = "#EXTM3U\n#EXT-X-TARGETDURATION:1\n#EXTINF:1,\n0.ts\n"
        try Data(playlist.utf8).write(to: folder.appendingPathComponent("live.m3u8"))
        let origin = try await RecordingOrigin(folder)
        try await onStage(["--allow-host", "127.0.0.1"]) { stage in
            let page = stage.page
            let program = try RunningProgram([
                "record", origin.address("live.m3u8"), "--library", stage.library.path, "--start-over",
            ])
            let row = "document.querySelector('tr[data-asset-id]')"
            let visible = "[...\(row).querySelectorAll('[data-action]')].filter(one => !one.hidden)"
            let actions = "\(visible).map(one => one.dataset.action).join()"
            try await eventually("the recording is shown") {
                try await page.text("\(row)?.querySelector('.badge').textContent ?? ''")
                    == "Recording in another process"
            }
            let during = try await page.text(actions)
            #expect(!during.contains("resume") && !during.contains("pause"), "\(during)")
            program.send(SIGKILL)
            _ = try await program.finish()
            let badge = "\(row).querySelector('.badge').textContent"
            try await eventually("the interruption is shown") { try await page.text(badge) == "Incomplete" }
            let after = try await page.text(actions)
            #expect(after.contains("resume") && after.contains("delete"), "\(after)")
            // The server records the stream from now on.
            try await page.click("tr[data-asset-id] [data-action=resume]")
            try await eventually("the server records the stream") { try await page.text(badge) == "Recording" }
            try Data((playlist + "#EXT-X-ENDLIST\n").utf8).write(to: folder.appendingPathComponent("live.m3u8"))
            try await eventually("the recording ends with the stream") { try await page.text(badge) == "Downloaded" }
        }
        await origin.stop()
    }

    @Test(.timeLimit(.minutes(10))) func messageAboutAFaultIsPreciseAndDisappears() async throws {
        try await onStage { stage in
            let page = stage.page
            try await play("ts", on: stage)
            try await page.click("#faults summary")
            let message = "document.querySelector('#faults-error').textContent"
            let isHidden = "document.querySelector('#faults-error').hidden"
            let reason = "status must be status=CODE (respond with this status, 400 to 599), not status=999"
            try await setFaults("path=*.none&status=999", on: page)
            try await eventually("the reason is named") { try await page.text(message).contains(reason) }
            try await setFaults("path=*.none&status=503", on: page)
            try await eventually("the fault applies") {
                try await page.text("document.querySelector('#faults-count').textContent") == "1"
            }
            #expect(try await page.isTrue(isHidden))
            try await setFaults("path=*.none&status=999", on: page)
            try await eventually("the reason is named again") { try await page.isTrue("!\(isHidden)") }
            try await page.click("#close-player")
            #expect(try await page.isTrue(isHidden))
            let errors = "[...document.querySelectorAll('#messages [data-type=error]:not(.visually-hidden)')].length"
            #expect(try await page.number(errors) == 0)
        }
    }

    /// An error stays until an action of its kind succeeds, and no longer.
    @Test(.timeLimit(.minutes(10))) func errorOfAnActionEndsWithTheNextOne() async throws {
        try await onStage { stage in
            let texts = try await stage.page.text(
                """
                (async () => {
                  const {dismissErrors, showError} = await import('/console/messages.js')
                  const shown = () => [...document.querySelectorAll('#messages .message')].map((one) => one.innerText.trim()).join()
                  const states = []
                  showError('one', 'conditions')
                  showError('two', 'download a')
                  states.push(shown())
                  showError('three', 'conditions')
                  states.push(shown())
                  dismissErrors('conditions')
                  states.push(shown())
                  dismissErrors('download a')
                  states.push(shown())
                  return states.join(' / ')
                })()
                """
            )
            #expect(texts == "one,two / two,three / two / ")
        }
    }
}
