import Foundation
import Testing

/// Tests the URLs that the cards of channels copy.
extension ConsoleTests {
    /// A server that admits only signed URLs refuses the addresses of the catalog, which have no signature.
    @Test(.timeLimit(.minutes(10))) func copiedURLsOfAChannelAreSigned() async throws {
        let secret = FileManager.default.temporaryDirectory.appendingPathComponent("secret-\(UUID())")
        defer { try? FileManager.default.removeItem(at: secret) }
        try Data(repeating: 7, count: 32).write(to: secret)
        let catalog: (RecordingOrigin) -> String = { origin in
            """
            [{"id": "live", "name": "live", "channel": ["\(origin.address("fmp4/multivariant.m3u8"))"], "loop": true}]
            """
        }
        let script = """
            window.copied = ''
            const clipboard = { writeText: async (text) => { window.copied = text } }
            Object.defineProperty(navigator, 'clipboard', { value: clipboard })
            """
        try await ConsoleStage.run(["--secret", secret.path], catalog: catalog, before: script) { stage in
            for (position, path) in ["play.m3u8", "play.mpd"].enumerated() {
                try await stage.page.click("article[data-stream-id=live] .addresses a:nth-child(\(position + 1))")
                try await eventually("the URL of \(path) is copied") {
                    try await stage.page.text("window.copied").hasPrefix("\(stage.address)\(path)?url=")
                }
                #expect(try await stage.page.text("window.copied").contains("&signature="))
            }
        }
    }
}
