import AssetStorage
import Foundation
import MediaTiming
import MediaTransport
import MillstreamTesting
import ResourceAddressing
import Testing

@testable import MillstreamDownloads

/// Tests downloads of a URL that has been signed anew since its asset was stored.
@Suite(.timeLimit(.minutes(5))) struct SignedSourceTests {
    private static let base = "https://films.example/one/"
    private let temporary: TemporaryLibrary

    init() throws { temporary = try TemporaryLibrary() }

    private var library: AssetLibrary { temporary.library }

    private static func source(_ query: String) -> ResourceAddress { ResourceAddress("\(base)main.m3u8?\(query)") }

    /// An origin of a film whose URLs all have a signature.
    ///
    /// - Parameters:
    ///   - query: The signature.
    ///   - durations: The durations of the segments of the lower variant.
    ///   - missing: The name of a segment that is not available.
    /// - Returns: The origin.
    private static func origin(
        _ query: String,
        durations: [Int] = [4, 4, 3],
        missing: String? = nil
    ) -> ScriptedTransport {
        var texts = [
            source(query).text: """
            #EXTM3U
            #EXT-X-STREAM-INF:BANDWIDTH=800000,RESOLUTION=640x360
            low.m3u8?\(query)
            #EXT-X-STREAM-INF:BANDWIDTH=3000000,RESOLUTION=1280x720
            high.m3u8?\(query)

            """
        ]
        for name in ["low", "high"] {
            let times = name == "low" ? durations : [4, 4, 3]
            let segments = times.enumerated().map { "#EXTINF:\($1),\n\(name)\($0).ts?\(query)\n" }.joined()
            texts["\(base)\(name).m3u8?\(query)"] =
                "#EXTM3U\n#EXT-X-TARGETDURATION:5\n\(segments)#EXT-X-ENDLIST\n"
            for number in times.indices where "\(name)\(number)" != missing {
                texts["\(base)\(name)\(number).ts?\(query)"] = "media of \(name) \(number)"
            }
        }
        return ScriptedTransport(texts: texts)
    }

    private func session(
        _ origin: ScriptedTransport,
        library: AssetLibrary? = nil,
        continuesAssets: Bool = true
    ) throws -> DownloadSession {
        var configuration = DownloadSession.Configuration()
        configuration.resumesAutomatically = false
        configuration.storagePolicyInterval = nil
        configuration.continuesAssetsWithOtherSignature = continuesAssets
        return try DownloadSession(
            identifier: "films",
            library: library ?? temporary.library,
            loader: ResourceLoader(origin, policy: RecoveryPolicy(retries: 0)),
            configuration: configuration
        )
    }

    /// Downloads the film with a session of its own.
    private func download(
        _ query: String,
        from origin: ScriptedTransport,
        variants: DownloadSelection.Variants = .lowest,
        continuesAssets: Bool = true
    ) async throws -> StoredAsset {
        let session = try session(origin, continuesAssets: continuesAssets)
        do {
            let configuration = DownloadConfiguration(selection: DownloadSelection(variants: variants))
            let task = try await session.makeTask(Self.source(query), configuration: configuration)
            task.resume()
            let asset = try await task.value()
            await session.invalidate()
            return asset
        } catch {
            await session.invalidate()
            throw error
        }
    }

    private static func segments(_ origin: ScriptedTransport) -> [String] {
        origin.requests.map(\.address.lastPathComponent).filter { $0.hasSuffix(".ts") }
    }

    @Test(arguments: [
        ("token=a", "token=b"), ("id=1&Expires=1&Signature=a", "id=1&Expires=2&Signature=b"),
        ("X-Amz-Date=1&X-Amz-Signature=a", "X-Amz-Date=2&X-Amz-Signature=b"), ("e=1700000000", "e=1800000000"),
    ])
    func assetIsContinuedWithANewSignature(former: String, new: String) async throws {
        let first = try await download(former, from: Self.origin(former))
        let origin = Self.origin(new)
        let second = try await download(new, from: origin)
        #expect(second.id == first.id && second.state == .complete)
        #expect(second.source == Self.source(new))
        #expect(try library.assets().count == 1 && Self.segments(origin).isEmpty)
        #expect(try temporary.text("variant-0/000002.ts", of: second.id) == "media of low 2")
        // Another selection adds only what is missing.
        let more = Self.origin("\(new)&token=c")
        let both = try await download("\(new)&token=c", from: more, variants: .all)
        #expect(both.id == first.id && both.renditions.count == 2)
        #expect(Self.segments(more).sorted() == ["high0.ts", "high1.ts", "high2.ts"])
    }

    @Test func interruptedDownloadContinuesWithANewSignature() async throws {
        await #expect(throws: DownloadError.self) {
            try await download("token=a", from: Self.origin("token=a", missing: "low2"))
        }
        #expect(try library.downloads().map(\.state) == [.failed])
        let origin = Self.origin("token=b")
        let asset = try await download("token=b", from: origin)
        #expect(asset.state == .complete && Self.segments(origin) == ["low2.ts"])
        // The task with the former URL has ended as well.
        #expect(try library.assets().count == 1 && library.downloads().isEmpty)
    }

    @Test func taskOfAnotherSelectionGetsTheNewSignature() async throws {
        await #expect(throws: DownloadError.self) {
            try await download("token=a", from: Self.origin("token=a", missing: "high1"), variants: .best)
        }
        let failed = try #require(try library.downloads().first)
        let origin = Self.origin("token=b")
        let session = try session(origin)
        let configuration = DownloadConfiguration(selection: DownloadSelection(variants: .all))
        let task = try await session.makeTask(Self.source("token=b"), configuration: configuration)
        #expect(task.id != failed.id && task.assetID == failed.assetID)
        let record = try #require(try library.downloads().first { $0.id == failed.id })
        #expect(record.source == Self.source("token=b"))
        // The session restores the task with the new URL.
        let time = SystemTimeSource()
        while session.tasks.first(where: { $0.id == failed.id })?.address != Self.source("token=b") {
            try await time.sleep(for: .milliseconds(10))
        }
        let restored = try #require(session.tasks.first { $0.id == failed.id })
        restored.resume()
        #expect(try await restored.value().id == failed.assetID)
        #expect(Self.segments(origin) == ["high1.ts"])
        #expect(try library.assets().count == 1)
        await session.invalidate()
    }

    @Test(arguments: [
        // These parameters may select another stream.
        ("id=1", "id=2"), ("e=1", "e=2"), ("token=a&id=1", "token=b&id=2"), ("token=a", "token=b&audio=en"),
    ])
    func otherParametersAreThoseOfAnotherAsset(former: String, new: String) async throws {
        let first = try await download(former, from: Self.origin(former))
        let second = try await download(new, from: Self.origin(new))
        #expect(second.id != first.id)
        #expect(try library.asset(first.id).source == Self.source(former))
    }

    /// A token can select the stream.
    @Test func otherSegmentsAreThoseOfAnotherAsset() async throws {
        let first = try await download("token=a", from: Self.origin("token=a"))
        let second = try await download("token=b", from: Self.origin("token=b", durations: [4, 5, 2]))
        #expect(second.id != first.id)
        #expect(try library.asset(first.id) == first)
        // Now several assets match.
        let third = try await download("token=c", from: Self.origin("token=c"))
        #expect(![first.id, second.id].contains(third.id))
    }

    @Test func sessionCanTreatEverySignatureAsAnotherAsset() async throws {
        let first = try await download("token=a", from: Self.origin("token=a"))
        let second = try await download("token=b", from: Self.origin("token=b"), continuesAssets: false)
        #expect(second.id != first.id)
    }

    @Test func assetOfARunningDownloadIsBusy() async throws {
        let holding = try session(Self.origin("token=a", missing: "low2"))
        let configuration = DownloadConfiguration(selection: DownloadSelection(variants: .lowest))
        let task = try await holding.makeTask(Self.source("token=a"), configuration: configuration)
        let other = try AssetLibrary(directory: temporary.directory)
        let session = try session(Self.origin("token=b"), library: other)
        let error = await #expect(throws: DownloadError.self) {
            try await session.makeTask(Self.source("token=b"), configuration: configuration)
        }
        #expect(error?.message.contains("by another process or session") == true, "\(String(describing: error))")
        #expect(try library.asset(task.assetID).source == Self.source("token=a"))
        await session.invalidate()
        await holding.invalidate()
    }

    @Test func addressWithoutASignatureIsThatOfTheAsset() async throws {
        let first = try await download("token=a", from: Self.origin("token=a"))
        let plain = ResourceAddress("\(Self.base)main.m3u8")
        #expect(try library.asset(differingInSignatureFrom: plain)?.id == first.id)
        #expect(try library.asset(differingInSignatureFrom: Self.source("token=z"))?.id == first.id)
        // The asset itself differs in nothing, and the rest of the URL has to be the same.
        for text in ["main.m3u8?token=a", "main.m3u8?token=b#t=1", "main.m3u8x?token=b", "main.m3u8/?token=b"] {
            #expect(try library.asset(differingInSignatureFrom: ResourceAddress(Self.base + text)) == nil)
        }
        try library.delete(first.id)
        #expect(try library.asset(differingInSignatureFrom: plain) == nil)
    }
}
