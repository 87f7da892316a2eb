import AssetStorage
import MediaTiming
import MediaTransport
import MillstreamDownloads
import MillstreamTesting
import ResourceAddressing
import Synchronization
import Testing

/// An origin whose addresses contain a signature that is valid for a number of segments.
private final class SignedOrigin: Sendable {
    private struct State {
        var signature = 0
        var uses = 0
        var requests: [String] = []
    }

    static let root = "https://origin.example/"
    let lifetime: Int
    /// The name of a segment that is never available; `nil` for none.
    let forbidden: String?
    private let state = Mutex(State())

    init(lifetime: Int, forbidden: String? = nil) { (self.lifetime, self.forbidden) = (lifetime, forbidden) }

    var requests: [String] { state.withLock { $0.requests } }

    func count(_ name: String) -> Int { requests.count { $0 == name } }

    func resource(_ address: String) -> SyntheticOrigin.Resource? {
        let parts = address.dropFirst(Self.root.count).split(separator: "?t=").map(String.init)
        let name = parts[0]
        return state.withLock { state in
            state.requests.append(name)
            if name == "main.m3u8" {
                state.signature += 1
                state.uses = 0
                return .text("#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=500000\nlow.m3u8?t=\(state.signature)\n")
            }
            let signature = parts.count == 2 ? parts[1] : ""
            if name == "low.m3u8" {
                let segments = (0..<100).map { "#EXTINF:6,\n\($0).ts?t=\(signature)\n" }.joined()
                return .text("#EXTM3U\n#EXT-X-TARGETDURATION:6\n\(segments)#EXT-X-ENDLIST\n")
            }
            state.uses += 1
            guard name != forbidden, signature == String(state.signature), state.uses <= lifetime else {
                return .failure(TransportError(.status, "the signature has expired", status: 403))
            }
            return .bytes(Array("media of \(name)".utf8))
        }
    }
}

/// Tests of downloads whose addresses expire.
@Suite struct ExpiringAddressTests {
    private let temporary: TemporaryLibrary

    init() throws { temporary = try TemporaryLibrary() }

    private func task(_ origin: SignedOrigin) -> AssetDownload {
        let transport = SyntheticOrigin(time: SystemTimeSource()) { address, _ in origin.resource(address) }
        let source = ResourceAddress(SignedOrigin.root + "main.m3u8")
        return AssetDownload(source, into: temporary.library, loader: ResourceLoader(transport))
    }

    @Test func aDownloadContinuesWithNewAddresses() async throws {
        let origin = SignedOrigin(lifetime: 20)
        let events = Mutex(0)
        let asset = try await task(origin).run { event in
            if case .resolved = event { events.withLock { $0 += 1 } }
        }
        #expect(asset.state == .complete)
        // Each set of addresses loads 20 of the 100 segments, and the renewal is not reported as a new download.
        #expect(origin.count("main.m3u8") == 5)
        #expect(events.withLock { $0 } == 1)
        // At most the six transfers in progress are repeated when addresses expire.
        #expect(origin.requests.count { $0.hasSuffix(".ts") } <= 100 + 4 * 6)
        for number in 0..<100 {
            let text = try temporary.text(
                "variant-0/\(String(repeating: "0", count: number < 10 ? 5 : 4))\(number).ts",
                of: asset.id
            )
            #expect(text == "media of \(number).ts")
        }
    }

    @Test func addressesThatNeverWorkFailAfterFewRequests() async throws {
        let origin = SignedOrigin(lifetime: 0)
        let error = await #expect(throws: DownloadError.self) { try await task(origin).run() }
        #expect(error?.code == .transport && error?.detail == TransportError.Code.status.rawValue)
        #expect(error?.message.contains("the signature has expired") == true, "\(String(describing: error))")
        #expect((2...7).contains(origin.count("main.m3u8")), "\(origin.count("main.m3u8"))")
        #expect(origin.requests.count < 60, "\(origin.requests.count)")
    }

    @Test func aFileThatIsForbiddenDoesNotRepeatTheRenewalWithoutEnd() async throws {
        let origin = SignedOrigin(lifetime: 1_000, forbidden: "3.ts")
        await #expect(throws: DownloadError.self) { try await task(origin).run() }
        #expect(origin.count("main.m3u8") == 3)
        #expect(origin.count("3.ts") == 3)
        // All other files are stored, so that only this one is missing.
        #expect(Set(origin.requests.filter { $0.hasSuffix(".ts") }).count == 100)
    }
}
