import AVFoundation
import Dispatch
import Foundation
import MediaTiming
import MediaTransport
import MillstreamAVFoundation
import MillstreamServer
import MillstreamTesting
import PlaylistEditing
import ResourceAddressing
import Synchronization
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Tests of the adapter against the substitute for AVFoundation.
@Suite(.timeLimit(.minutes(10))) struct ResourceLoaderAdapterTests {
    /// A delegate that answers with predefined resources, redirects, or declines.
    private final class Delegate: AssetResourceLoaderDelegate {
        enum Response: Sendable {
            case bytes([UInt8])
            case redirect(String)
            case declined
            case status(Int)
            case never
        }

        private let responses: [String: Response]
        private let state = Mutex<(requests: [AssetResourceLoadingRequest], renewals: Int, cancelled: Int)>(([], 0, 0))

        init(_ responses: [String: Response]) { self.responses = responses }

        var renewals: Int { state.withLock { $0.renewals } }
        var cancelled: Int { state.withLock { $0.cancelled } }
        var kinds: [TransportRequest.Kind] { state.withLock { $0.requests.map(\.request.kind) } }

        func resourceLoader(
            _ resourceLoader: AssetResourceLoader,
            shouldWaitForLoadingOfRequestedResource loadingRequest: AssetResourceLoadingRequest
        ) -> Bool {
            state.withLock { state in
                state.requests.append(loadingRequest)
                if loadingRequest.isRenewal { state.renewals += 1 }
            }
            switch responses[loadingRequest.request.address.text] ?? .declined {
            case .bytes(let bytes):
                loadingRequest.contentInformationRequest.renewalDelay = .milliseconds(1)
                loadingRequest.dataRequest.respond(with: bytes)
                loadingRequest.finishLoading()
            case .redirect(let address): loadingRequest.redirect(to: ResourceAddress(address))
            case .declined: return false
            case .status(let status):
                loadingRequest.response = AssetResourceResponse(status: status)
                loadingRequest.finishLoading()
            case .never: break
            }
            return true
        }

        func resourceLoader(
            _ resourceLoader: AssetResourceLoader,
            didCancel loadingRequest: AssetResourceLoadingRequest
        ) {
            state.withLock { $0.cancelled += 1 }
        }
    }

    private static let playlist = """
        #EXTM3U
        #EXT-X-TARGETDURATION:4
        #EXT-X-MAP:URI="i.mp4"
        #EXT-X-KEY:METHOD=AES-128,URI="key"
        #EXTINF:4,
        a.ts
        #EXTINF:4,
        https://cdn/b.ts
        #EXT-X-ENDLIST

        """

    /// A request that was answered.
    private struct Outcome: @unchecked Sendable {
        let request: AVAssetResourceLoadingRequest

        var bytes: [UInt8] { request.dataRequest.map { [UInt8]($0.receivedData) } ?? [] }
        var redirect: String? { request.redirect?.url?.absoluteString }
        var status: Int? { (request.response as? HTTPURLResponse)?.statusCode }
        var type: String? { request.contentInformationRequest?.contentType }
        var code: Int? { (request.error as NSError?)?.code }
    }

    /// Requests a resource as AVFoundation does, and waits for the response.
    private func request(
        _ address: String,
        of asset: AVURLAsset,
        offset: Int64 = 0,
        length: Int? = nil,
        isRenewal: Bool = false
    ) async throws -> Outcome {
        let (delegate, queue) = (asset.resourceLoader.delegate, asset.resourceLoader.delegateQueue)
        let url = try #require(URL(string: address))
        return await withCheckedContinuation { continuation in
            let box = Mutex<Outcome?>(nil)
            let type = isRenewal ? AVAssetResourceRenewalRequest.self : AVAssetResourceLoadingRequest.self
            let made = type.init(
                URLRequest(url: url),
                information: AVAssetResourceLoadingContentInformationRequest(),
                data: AVAssetResourceLoadingDataRequest(offset: offset, length: length ?? .max, toEnd: length == nil),
                onFinish: {
                    if let outcome = box.withLock({ $0 }) { continuation.resume(returning: outcome) }
                }
            )
            let outcome = Outcome(request: made)
            box.withLock { $0 = outcome }
            let loader = asset.resourceLoader
            let call = Call(delegate: delegate, loader: loader, outcome: outcome)
            queue?.async { #expect(call.perform()) }
        }
    }

    /// A call of the delegate on its queue.
    private struct Call: @unchecked Sendable {
        let delegate: (any AVAssetResourceLoaderDelegate)?
        let loader: AVAssetResourceLoader
        let outcome: Outcome

        func perform() -> Bool {
            if let renewal = outcome.request as? AVAssetResourceRenewalRequest {
                return delegate?.resourceLoader(loader, shouldWaitForRenewalOfRequestedResource: renewal) ?? false
            }
            return delegate?.resourceLoader(loader, shouldWaitForLoadingOfRequestedResource: outcome.request) ?? false
        }
    }

    private func withAsset(
        _ delegate: any AssetResourceLoaderDelegate,
        _ body: (AVURLAsset, ResourceLoaderAdapter) async throws -> Void
    ) async throws {
        let asset = AVURLAsset(url: try #require(URL(string: "films://h/main.m3u8")))
        let adapter = ResourceLoaderAdapter(delegate, originalSchemes: ["films": "https"])
        asset.resourceLoader.setDelegate(adapter, queue: adapter.queue)
        try await body(asset, adapter)
    }

    @Test func playlistsAndKeysAreAnsweredAndSegmentsRedirected() async throws {
        let delegate = Delegate([
            "films://h/main.m3u8": .bytes(Array(Self.playlist.utf8)), "films://h/key": .bytes(Array(0..<16)),
            "films://h/a.ts": .bytes([UInt8](repeating: 0x47, count: 188_000)),
        ])
        try await withAsset(delegate) { asset, _ in
            let playlist = try await request("films://h/main.m3u8", of: asset)
            #expect(playlist.bytes == Array(Self.playlist.utf8) && playlist.type == "public.m3u-playlist")
            #expect(playlist.request.contentInformationRequest?.contentLength == Int64(Self.playlist.utf8.count))
            #expect(playlist.request.contentInformationRequest?.renewalDate != nil)
            #expect(playlist.redirect == nil && playlist.code == nil)
            let key = try await request("films://h/key", of: asset)
            #expect(key.bytes == Array(0..<16) && key.redirect == nil)
            let segment = try await request("films://h/a.ts", of: asset)
            #expect(segment.redirect == "https://h/a.ts" && segment.status == 302 && segment.bytes.isEmpty)
            // The kinds follow from the playlist.
            #expect(delegate.kinds == [.playlist, .key, .segment])
        }
    }

    @Test func rangesAreAnsweredExactly() async throws {
        let delegate = Delegate(["films://h/main.m3u8": .bytes(Array(Self.playlist.utf8))])
        try await withAsset(delegate) { asset, _ in
            #expect(try await request("films://h/main.m3u8", of: asset, length: 2).bytes == Array("#E".utf8))
            let middle = try await request("films://h/main.m3u8", of: asset, offset: 4, length: 3)
            #expect(middle.bytes == Array("M3U".utf8))
            #expect(try await request("films://h/main.m3u8", of: asset, offset: 10_000, length: 5).bytes.isEmpty)
        }
    }

    @Test func redirectsOfTheDelegateArePassedOn() async throws {
        let delegate = Delegate([
            "films://h/main.m3u8": .redirect("https://other/x.m3u8"), "films://h/bad": .redirect("ftp://other/x"),
        ])
        try await withAsset(delegate) { asset, _ in
            let moved = try await request("films://h/main.m3u8", of: asset)
            #expect(moved.redirect == "https://other/x.m3u8" && moved.status == 302)
            let declined = try await request("films://h/other.m3u8", of: asset)
            #expect(declined.redirect == "https://h/other.m3u8")
            let unusable = try await request("films://h/bad", of: asset)
            #expect(unusable.redirect == nil && unusable.code == -11_862)
        }
    }

    @Test func errorsHaveTheCodesOfAVFoundation() async throws {
        try await withAsset(Delegate(["films://h/main.m3u8": .status(404)])) { asset, _ in
            let missing = try await request("films://h/main.m3u8", of: asset)
            #expect(missing.code == -11_849 && missing.bytes.isEmpty)
            let unknown = try await request("unknown://h/a", of: asset)
            #expect(unknown.code == -11_862)
        }
    }

    @Test func resourcesAreRenewed() async throws {
        let delegate = Delegate(["films://h/main.m3u8": .bytes(Array(Self.playlist.utf8))])
        try await withAsset(delegate) { asset, _ in
            _ = try await request("films://h/main.m3u8", of: asset)
            try await Task.sleep(for: .milliseconds(20))
            let renewed = try await request("films://h/main.m3u8", of: asset, isRenewal: true)
            #expect(renewed.type == "public.m3u-playlist" && delegate.renewals == 1)
        }
    }

    @Test func cancellationReachesTheDelegate() async throws {
        let delegate = Delegate(["films://h/main.m3u8": .never])
        try await withAsset(delegate) { asset, adapter in
            let outcome = Outcome(
                request: AVAssetResourceLoadingRequest(
                    URLRequest(url: asset.url),
                    information: nil,
                    data: nil,
                    onFinish: { Issue.record("a canceled request is answered") }
                )
            )
            let loader = asset.resourceLoader
            #expect(adapter.resourceLoader(loader, shouldWaitForLoadingOfRequestedResource: outcome.request))
            while delegate.kinds.isEmpty { try await Task.sleep(for: .milliseconds(5)) }
            adapter.resourceLoader(loader, didCancel: outcome.request)
            while delegate.cancelled == 0 { try await Task.sleep(for: .milliseconds(5)) }
        }
    }

    /// The delegate that edits playlists, through the adapter: the edited playlist, and its children, whose segments are
    /// those of the origin.
    @Test func editedPlaylistsAreAnswered() async throws {
        let origin = ScriptedTransport([
            "https://h/main.m3u8": [
                .text(
                    "#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=1000\nlow.m3u8\n#EXT-X-STREAM-INF:BANDWIDTH=9000\nhigh.m3u8\n"
                )
            ],
            "https://h/low.m3u8": [.text(Self.playlist)],
        ])
        let edits = try EditPlan([
            PlaylistEdit(name: "bandwidth", value: "...2000"), PlaylistEdit(name: "duration", value: "4"),
        ])
        let delegate = PlaylistEditingDelegate(edits, loadingFrom: origin)
        try await withAsset(delegate) { asset, _ in
            let main = String(decoding: try await request("films://h/main.m3u8", of: asset).bytes, as: UTF8.self)
            let child = try #require(main.split(separator: "\n").last)
            #expect(!main.contains("9000") && !child.hasPrefix("#"))
            let resolved = ResourceAddress("films://h/main.m3u8").resolving(String(child)).text
            let media = String(decoding: try await request(resolved, of: asset).bytes, as: UTF8.self)
            #expect(media.contains("https://h/a.ts") && !media.contains("b.ts"), "\(media)")
        }
    }
}
