import TestSamples
import Testing

/// A suite that tests the console with a real server, a real browser and real media.
protocol ConsoleTesting {}

extension ConsoleTesting {
    /// Runs a server with a page; see ``ConsoleStage``.
    func onStage(
        _ options: [String] = [],
        catalog: ((RecordingOrigin) -> String)? = nil,
        before script: String? = nil,
        _ act: (ConsoleStage) async throws -> Void
    ) async throws {
        try await ConsoleStage.run(options, catalog: catalog, before: script, act)
    }

    /// Plays a stream of the catalog.
    func play(_ stream: String, on stage: ConsoleStage) async throws {
        try await stage.page.click("article[data-stream-id=\(stream)] [data-action=play]")
        try await stage.video.waitUntilPlaying()
    }

    /// Expects that the picture at a time is that of a time of the sample.
    func expectFrame(_ time: Double, shows expected: Double, _ video: VideoElement) async throws {
        let strip = try await video.strip(at: time)
        #expect(
            abs(Double(strip.frame) - expected * Samples.frameRate) <= 1.5,
            "frame \(strip.frame) at \(time) s"
        )
    }

    /// Expects that the page plays by Media Source Extensions.
    func expectMediaSource(_ stage: ConsoleStage) async throws {
        #expect(try await stage.page.isTrue("video.currentSrc.startsWith('blob:')"))
    }

    /// Enters faults in the console and applies them.
    func setFaults(_ text: String, on page: Page) async throws {
        _ = try await page.evaluate(
            "(field => { field.value = '\(text)'; field.dispatchEvent(new Event('input')); })"
                + "(document.querySelector('#faults-text'))"
        )
        try await page.click("#faults-form [type=submit]")
    }

    /// The conditions of the links of the server, as a text.
    func conditions(_ stage: ConsoleStage) async throws -> String {
        try await stage.page.text(
            "(async () => (await (await fetch('/api/conditions')).json()).links.map(l => l.conditions).join())()"
        )
    }
}
