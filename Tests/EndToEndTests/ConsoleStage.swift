import Foundation
import TestSamples
import Testing

/// A server with a catalog, its origin, and a page with the console.
final class ConsoleStage {
    let origin: RecordingOrigin
    let server: RunningProgram
    let browser: Chromium
    let page: Page
    let address: String
    let library: URL

    var video: VideoElement { VideoElement(page: page) }

    /// Starts a server with further options, and another catalog than that of the samples if one is given.
    ///
    /// - Parameters:
    ///   - options: The options of `millstream serve`.
    ///   - directory: The directory that the origin serves; `nil` for that of the samples.
    ///   - makeCatalog: A function that returns the catalog; `nil` for that of the origin.
    ///   - script: A script that runs before those of the page.
    /// - Throws: ``TimedOut`` if the console is not ready in time, and other errors of the programs.
    private init(
        _ options: [String],
        from directory: URL?,
        catalog makeCatalog: ((RecordingOrigin) -> String)?,
        before script: String?
    ) async throws {
        origin = try await RecordingOrigin(try directory ?? #require(Samples.directory))
        library = FileManager.default.temporaryDirectory.appendingPathComponent("library-\(UUID())")
        var catalog = origin.address("catalog.json")
        if let makeCatalog {
            try FileManager.default.createDirectory(at: library, withIntermediateDirectories: true)
            catalog = library.appendingPathComponent("catalog.json").path
            try Data(makeCatalog(origin).utf8).write(to: URL(fileURLWithPath: catalog))
        }
        server = try RunningProgram(
            ["serve", "--port", "0", "--library", library.path, "--catalog", catalog] + options
        )
        address = try await server.match("(http://[0-9.:]+/)")
        browser = try Chromium()
        page = try await Page(address, in: browser, before: script)
        try await eventually("the console is ready") { [page] in
            try await page.isTrue("document.documentElement?.dataset.ready === 'true'")
        }
    }

    /// Stops the browser, the server and the origin, in an order that avoids deadlocks.
    private func end() async throws {
        browser.close()
        server.send(SIGINT)
        #expect(try await server.finish() == 0)
        await origin.stop()
        try? FileManager.default.removeItem(at: library)
    }

    /// Runs a test with a page; a failure is recorded with a screenshot.
    static func run(
        _ options: [String] = [],
        from directory: URL? = nil,
        catalog: ((RecordingOrigin) -> String)? = nil,
        before script: String? = nil,
        _ act: (ConsoleStage) async throws -> Void
    ) async throws {
        let stage = try await ConsoleStage(options, from: directory, catalog: catalog, before: script)
        do {
            try await act(stage)
            #expect(stage.browser.consoleErrors.isEmpty)
        } catch {
            let url = FileManager.default.temporaryDirectory.appendingPathComponent("console-failure.png")
            try? await stage.page.screenshot(to: url)
            Issue.record("screenshot: \(url.path); server: \(stage.server.standardError)")
            try? await stage.end()
            throw error
        }
        try await stage.end()
    }

    func state(_ stream: String) async throws -> String {
        try await page.text("document.querySelector('article[data-stream-id=\(stream)]').dataset.state")
    }
}
