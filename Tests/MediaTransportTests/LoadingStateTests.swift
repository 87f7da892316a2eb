import MediaTiming
import NIOCore
import ResourceAddressing
import Testing

@testable import MediaTransport

/// Tests the bytes that a delegate responds with, before they are read, and the URLs with a custom scheme.
@Suite struct LoadingStateTests {
    private func buffer(_ count: Int) -> ByteBuffer { ByteBuffer(repeating: 7, count: count) }

    /// Takes all pieces, and returns their sizes.
    private func sizes(_ state: inout LoadingState) -> [Int] {
        var sizes: [Int] = []
        while let piece = state.next() { sizes.append(piece.readableBytes) }
        return sizes
    }

    @Test func piecesOfLessThan16KiBAreJoined() {
        var state = LoadingState(length: nil)
        for count in [1, 16_382, 1, 5, 0] { state.append(buffer(count)) }
        #expect(state.waitingByteCount == 16_389 && state.receivedByteCount == 16_389 && !state.isComplete)
        let first = state.next()
        #expect(first?.readableBytes == 16_384 && state.waitingByteCount == 5)
        let rest = sizes(&state)
        #expect(rest == [5] && state.waitingByteCount == 0 && state.receivedByteCount == 16_389)
    }

    @Test func bytesAfterTheRequestedOnesAreIgnored() {
        var state = LoadingState(length: 5)
        #expect(!state.hasHead && !state.isComplete)
        state.append(buffer(3))
        #expect(state.hasHead && !state.isComplete)
        state.append(buffer(4))
        #expect(state.isComplete && state.waitingByteCount == 5)
        state.append(buffer(1))
        let read = sizes(&state)
        #expect(read == [5] && state.receivedByteCount == 8 && state.isComplete)
        let empty = LoadingState(length: 0)
        #expect(empty.isComplete && empty.hasHead)
        let open = LoadingState(length: nil)
        #expect(!open.isComplete && !open.hasHead)
    }

    @Test func firstEndCounts() {
        var state = LoadingState(length: nil)
        state.append(buffer(3))
        let isFirst = state.finish(.finished)
        let isSecond = state.finish(.cancelled)
        #expect(isFirst && !isSecond && state.hasHead)
        // Bytes after the end are ignored, and those before it can still be read.
        state.append(buffer(4))
        let read = sizes(&state)
        #expect(read == [3] && state.receivedByteCount == 3)
    }

    @Test func bytesOfACanceledRequestAreDiscarded() {
        var state = LoadingState(length: nil)
        state.append(buffer(3))
        let isFirst = state.finish(.cancelled)
        let read = sizes(&state)
        #expect(isFirst && read.isEmpty && state.waitingByteCount == 0)
    }

    @Test(
        arguments: [
            (nil, nil, 0, nil), (nil, 7, 7, nil), (ByteRange(start: 5, length: 10), nil, 5, 10),
            (ByteRange(start: 5, length: 10), 3, 8, 7), (ByteRange(start: 5, length: 10), 10, 15, 0),
            (ByteRange(start: 5, length: 10), 11, 16, 0),
        ] as [(ByteRange?, Int64?, Int64, Int64?)]
    )
    func requestedBytesBeginAfterThoseThatWereReceived(
        range: ByteRange?,
        skipped: Int64?,
        offset: Int64,
        length: Int64?
    ) {
        var request = TransportRequest(ResourceAddress("custom://h/a"), kind: .segment, byteRange: range)
        request.resumption = skipped.map { .init(offset: $0, validator: "x") }
        let exchange = LoadingExchange(request)
        #expect(exchange.offset == offset && exchange.length == length)
    }

    // MARK: Schemes

    @Test(arguments: [
        ("custom://h/a", true), ("CUSTOM:a", true), ("http://h/a", false), ("HTTPS://h/a", false), ("file:///a", false),
        ("data:,a", false), ("a", false), ("/a", false),
    ])
    func otherSchemesThanThoseOfTheTransportsAreCustom(text: String, isCustom: Bool) {
        #expect(ResourceAddress(text).hasCustomScheme == isCustom)
    }

    @Test(
        arguments: [
            ("custom://h/a?b#c", "https://h/a?b#c"), ("CUSTOM://H/a", "https://H/a"), ("Plain://h/a", "http://h/a"),
            ("other://h/a", nil), ("https://h/a", nil), ("a", nil),
        ] as [(String, String?)]
    )
    func originalURLDiffersInTheSchemeOnly(custom: String, original: String?) {
        let loader = AssetResourceLoader(originalSchemes: ["Custom": "https", "plain": "http"])
        #expect(loader.originalAddress(of: ResourceAddress(custom))?.text == original)
    }

    @Test(arguments: [
        ("https://h/b", "custom://h/a", "custom://h/b"), ("HTTPS://h/b", "CUSTOM://h/a", "CUSTOM://h/b"),
        ("http://h/b", "custom://h/a", "http://h/b"), ("https://h/b", "other://h/a", "https://h/b"),
        ("b", "custom://h/a", "b"), ("https://h/b", "a", "https://h/b"),
    ])
    func urlWithTheOriginalSchemeGetsTheCustomOne(address: String, request: String, custom: String) {
        let loader = AssetResourceLoader(originalSchemes: ["custom": "https"])
        let found = loader.customAddress(of: ResourceAddress(address), like: ResourceAddress(request))
        #expect(found.text == custom)
    }
}
