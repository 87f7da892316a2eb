import AssetStorage
import MediaTiming
import MediaTransport
import MillstreamTesting
import ResourceAddressing
import Testing

@testable import MillstreamDownloads

/// Tests that a recording is continued with its own selection only.
@Suite(.timeLimit(.minutes(5))) struct RecordedSelectionTests {
    private static let source = ResourceAddress("https://live.example/live.m3u8")
    private static let texts = [
        source.text: "#EXTM3U\n#EXT-X-TARGETDURATION:4\n#EXTINF:4,\n0.ts\n#EXTINF:4,\n1.ts\n#EXT-X-ENDLIST\n",
        "https://live.example/0.ts": "zero", "https://live.example/1.ts": "one",
    ]
    private static let selection = "max-height=720&audio=all&subtitles=all"
    private let temporary: TemporaryLibrary

    init() throws { temporary = try TemporaryLibrary() }

    private var library: AssetLibrary { temporary.library }

    private static func configuration(
        _ variants: DownloadSelection.Variants,
        title: String? = nil
    ) -> DownloadConfiguration {
        var configuration = DownloadConfiguration(selection: DownloadSelection(variants: variants), title: title)
        configuration.recording = RecordingOptions()
        return configuration
    }

    private func recording(
        _ variants: DownloadSelection.Variants,
        _ transport: ScriptedTransport = ScriptedTransport(texts: Self.texts)
    ) -> AssetDownload {
        AssetDownload(
            Self.source,
            into: library,
            loader: ResourceLoader(transport, policy: RecoveryPolicy(retries: 0)),
            configuration: Self.configuration(variants)
        )
    }

    @Test func runWithAnotherSelectionIsRefusedBeforeAnythingIsLoaded() async throws {
        let asset = try await recording(.maximumHeight(720)).run()
        #expect(asset.selection == Self.selection)
        let transport = ScriptedTransport(texts: Self.texts)
        let other = recording(.maximumHeight(360), transport)
        let error = await #expect(throws: DownloadError.self) { try await other.run() }
        #expect(error?.code == .otherSelection && error?.detail == "other-selection")
        #expect(error?.message == "the recording \(asset.id) of this URL has another selection: \(Self.selection)")
        // The options of a command are not those of an application.
        #expect(error?.hint == nil)
        #expect(transport.requests.isEmpty)
        #expect(try library.asset(asset.id).selection == Self.selection)
        let again = try await recording(.maximumHeight(720)).run()
        #expect(again.id == asset.id && again.selection == Self.selection)
    }

    @Test func taskWithAnotherSelectionIsRefused() async throws {
        let asset = try await recording(.maximumHeight(720)).run()
        let session = try DownloadSession(
            identifier: "films",
            library: library,
            loader: ResourceLoader(ScriptedTransport(texts: Self.texts), policy: RecoveryPolicy(retries: 0))
        )
        let error = await #expect(throws: DownloadError.self) {
            try await session.makeTask(Self.source, configuration: Self.configuration(.lowest))
        }
        #expect(error?.code == .otherSelection && session.tasks.isEmpty)
        #expect(try library.downloads().isEmpty)
        #expect(try library.asset(asset.id).selection == Self.selection)
        let task = try await session.makeTask(Self.source, configuration: Self.configuration(.maximumHeight(720)))
        #expect(task.assetID == asset.id)
        await session.invalidate()
    }

    /// The recording of the other process has no segment yet.
    @Test func runThatIsRefusedChangesNothing() async throws {
        let former = DownloadSelection(variants: .maximumHeight(720)).description
        let id = try library.addAsset(source: Self.source, title: "Live", selection: former)
        let other = try AssetLibrary(directory: temporary.directory)
        let lock = try other.lock(id)
        defer { withExtendedLifetime(lock) {} }
        let refused = recording(.maximumHeight(360))
        let error = await #expect(throws: DownloadError.self) { try await refused.run() }
        #expect(error?.detail == "asset-busy")
        #expect(try library.asset(id).selection == former)
    }

    private func session(_ identifier: String, _ library: AssetLibrary) throws -> DownloadSession {
        let loader = ResourceLoader(ScriptedTransport(texts: Self.texts), policy: RecoveryPolicy(retries: 0))
        return try DownloadSession(identifier: identifier, library: library, loader: loader)
    }

    @Test func taskThatIsRefusedChangesNothing() async throws {
        let first = try session("first", AssetLibrary(directory: temporary.directory))
        let second = try session("second", library)
        let task = try await first.makeTask(
            Self.source,
            configuration: Self.configuration(.maximumHeight(720), title: "First")
        )
        let error = await #expect(throws: DownloadError.self) {
            try await second.makeTask(
                Self.source,
                configuration: Self.configuration(.maximumHeight(360), title: "Second")
            )
        }
        #expect(error?.detail == "asset-busy")
        let asset = try library.asset(task.assetID)
        #expect(asset.selection == Self.selection && asset.title == "First")
        await first.invalidate()
        await second.invalidate()
    }

    /// No segment is in another media playlist yet.
    @Test func assetWithoutMediaIsRecordedWithAnotherSelection() async throws {
        let former = DownloadSelection(variants: .lowest).description
        let id = try library.addAsset(source: Self.source, title: "Live", selection: former)
        let recorded = try RecordedAsset(of: Self.source, in: library)
        #expect(recorded?.duration == nil)
        let asset = try await recording(.maximumHeight(720)).run()
        #expect(asset.id == id && asset.selection == Self.selection)
    }

    @Test func partsThatAreNotRequestedAreThoseOfTheRecording() async throws {
        try await recording(.maximumHeight(720)).run()
        let recorded = try #require(try RecordedAsset(of: Self.source, in: library))
        #expect(recorded.duration == MediaTime(seconds: 8))
        let defaults = DownloadSelection()
        let continued = try recorded.selection(for: defaults, besides: defaults)
        #expect(continued.description == Self.selection)
        let error = #expect(throws: DownloadError.self) { try recorded.selection(for: defaults) }
        #expect(error?.code == .otherSelection)
    }

    @Test func keysAndPasswordsOfASelectionAreNotShown() throws {
        let edits = "edit=insert=https://a:b@h/c.m3u8&edit=insert=https://a:p@ss@h/d@e.m3u8?f=@"
        let selection = "variants=best&audio=all&subtitles=all&edit=key=30313233&\(edits)"
        let id = try library.addAsset(source: Self.source, title: "Live", selection: selection)
        let shown =
            "variants=best&audio=all&subtitles=all&edit=key=…&edit=insert=https://h/c.m3u8"
            + "&edit=insert=https://h/d@e.m3u8?f=@"
        #expect(try library.asset(id).selectionWithoutSecrets == shown)
    }

    @Test func tokensOfURLsInASelectionAreShortened() throws {
        let selection = "variants=best&edit=append=https://h/a.m3u8?n=1%26token=0123456789abcdef%26x=2&edit=start=4"
        let id = try library.addAsset(source: Self.source, title: "Live", selection: selection)
        let shown = try library.asset(id).selectionWithoutSecrets
        #expect(!shown.contains("456789abcdef"))
        #expect(shown.hasPrefix("variants=best&edit=append=https://h/a.m3u8?n=1%26token="), "\(shown)")
        #expect(shown.hasSuffix("%26x=2&edit=start=4"), "\(shown)")
    }
}
