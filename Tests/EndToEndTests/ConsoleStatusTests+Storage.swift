import Foundation
import Testing

/// Tests what the console shows of the downloads on the disk, and says about making space available.
extension ConsoleStatusTests {
    /// Both lists of downloads have the image.
    @Test(.timeLimit(.minutes(10))) func artworkOfADownloadIsShown() async throws {
        try await onStage { stage in
            let image = stage.library.appendingPathComponent("image.gif")
            let pixel = "R0lGODlhAQABAIAAAAAAAP///ywAAAAAAQABAAACAUwAOw=="
            try #require(Data(base64Encoded: pixel)).write(to: image)
            let program = try RunningProgram([
                "download", stage.origin.address("ts/multivariant.m3u8"), "--variants", "lowest",
                "--artwork", image.path, "--library", stage.library.path,
            ])
            #expect(try await program.finish() == 0, "\(program.standardError)")
            for list in ["tr[data-asset-id]", "#storage-assets"] {
                // Images are loaded when they are visible.
                let isLoaded =
                    "(image => { image?.scrollIntoView(); return image?.naturalWidth === 1; })"
                    + "(document.querySelector('\(list) .asset-artwork'))"
                try await eventually("the image is shown in \(list)") { try await stage.page.isTrue(isLoaded) }
            }
        }
    }

    /// Downloads that are not enough are told apart from downloads that cannot be deleted.
    @Test(.timeLimit(.minutes(10))) func evictionThatIsNotEnoughIsExplained() async throws {
        try await onStage { stage in
            try await stage.page.click("article[data-stream-id=movie] [data-action=download]")
            try await eventually("the file is downloaded") { try await stage.state("movie") == "downloaded" }
            // More than any disk has.
            _ = try await stage.page.evaluate(
                "void document.querySelector('#eviction-need').replaceChildren(new Option('more', '9e17'))"
            )
            let summary = "document.querySelector('#eviction-summary').innerText"
            let count = "document.querySelectorAll('#eviction-assets li').length"
            try await eventually("the plan is shown") {
                // The download can be in use for a moment after its end.
                try await stage.page.click("#eviction [type=submit]")
                return try await stage.page.text(summary).contains("not be enough")
            }
            #expect(try await stage.page.text(summary).contains("would still be missing."))
            #expect(try await stage.page.number(count) == 1)
            #expect(try await stage.page.isTrue("document.querySelector('#evict').hidden"))
            try await stage.page.click("#storage-assets input")
            try await eventually("nothing can be deleted") {
                try await stage.page.click("#eviction [type=submit]")
                return try await stage.page.text(summary).hasPrefix("No download can be deleted.")
            }
            #expect(try await stage.page.number(count) == 0)
        }
    }
}
