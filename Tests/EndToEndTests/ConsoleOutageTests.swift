import TestSamples
import Testing

/// Tests what the console says while the simulated network delivers nothing.
///
/// These tests wait for the limits of the server and of the player for more than a minute; they run beside those of
/// ``ConsoleTests``.
@Suite(
    .tags(.endToEnd),
    .enabled(if: Samples.directory != nil, "the sample streams were not made: run Scripts/make-samples"),
    .enabled(if: Chromium.executable != nil, "there is no Chromium")
)
struct ConsoleOutageTests {
    private let console = ConsoleTests()

    /// If nothing arrives for longer than the server waits, the console says why, and playback goes on over another network.
    @Test(.timeLimit(.minutes(10)), arguments: [nil, ConsoleTests.withoutHLS])
    func outageOfTheSimulatedNetworkIsExplained(script: String?) async throws {
        try await console.onStage(before: script) { stage in
            try await console.play("ts", on: stage)
            try await stage.page.choose("100% Loss", in: "#network")
            try await eventually("the network is changed") { try await console.conditions(stage) == "100% Loss" }
            _ = try await stage.page.evaluate("void (video.currentTime = 60)")
            if script == nil {
                try await eventually("the cause is told", within: .seconds(150)) {
                    try await stage.page.text(ConsoleStatusTests.error)
                        .contains("Nothing arrives over the simulated network “100% Loss”.")
                }
            } else {
                // The page continues to request what does not arrive.
                try await Task.sleep(for: .seconds(75))
                #expect(try await stage.page.isTrue("document.querySelector('#playback-error').hidden"))
                #expect(
                    try await stage.page.text("document.querySelector('#waiting-note').textContent").contains(
                        "100% Loss"
                    )
                )
            }
            try await stage.page.choose("Off", in: "#network")
            try await eventually("playback goes on") { try await stage.video.currentTime > 61 }
            #expect(try await stage.page.isTrue("document.querySelector('#playback-error').hidden"))
        }
    }
}
