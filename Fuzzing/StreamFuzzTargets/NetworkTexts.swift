import Foundation
import FuzzTargets
import MediaTiming
import MediaTransport
import Millstream
import MillstreamServer
import NIOCore
import ResourceAddressing
import Synchronization

private let now = UnixSeconds(1_700_000_000)

/// Parses lines: the first is the address of the response, the others are `Set-Cookie` fields.
@Sendable func readCookies(_ bytes: [UInt8]) {
    let lines = String(decoding: bytes, as: UTF8.self).split(separator: "\n", omittingEmptySubsequences: false)
    let jar = CookieJar()
    let address = ResourceAddress(String(lines[0]))
    let other = ResourceAddress("https://www.example.com/a/b")
    for line in lines.dropFirst() {
        jar.store(setCookie: String(line), from: address, now: now)
        jar.store(setCookie: String(line), from: other, now: now)
    }
    check(jar.count <= 2 * lines.count, "more cookies than fields")
    for address in [address, other, ResourceAddress("http://example.com/"), ResourceAddress("https://evil.test/")] {
        for moment in [now, UnixSeconds(0), UnixSeconds(.max), UnixSeconds(.min)] {
            guard let header = jar.header(for: address, now: moment) else { continue }
            check(header.utf8.count <= 8_190, "a Cookie field is longer than the limit")
            check(!header.utf8.contains { $0 < 0x20 || $0 == 0x7F }, "a Cookie field has control characters")
        }
    }
    checkText(of: jar)
}

@Sendable func readCookieFile(_ bytes: [UInt8]) {
    let jar = CookieJar(netscapeFile: String(decoding: bytes, as: UTF8.self), now: now)
    check(jar.count <= bytes.count, "more cookies than bytes")
    _ = jar.header(for: ResourceAddress("https://www.example.com/a"), now: now)
    checkText(of: jar)
}

/// Checks that a cookie jar round-trips through the Netscape format.
private func checkText(of jar: CookieJar) {
    let text = jar.netscapeText(now: now)
    let again = CookieJar(netscapeFile: text, now: now)
    check(again.netscapeText(now: now) == text, "a jar is not written as it was read")
}

@Sendable func readCatalog(_ bytes: [UInt8]) {
    guard
        let catalog = try? StreamCatalog(Data(bytes), at: ResourceAddress("https://origin.example/Streams.plist"))
    else { return }
    check(catalog.streams.count <= bytes.count, "more streams than bytes")
    check(Set(catalog.streams.map(\.id)).count == catalog.streams.count, "two streams have one identifier")
    for stream in catalog.streams {
        check(stream.address.isHTTP, "a stream is not at an HTTP address")
        check(!stream.id.isEmpty && !stream.id.contains("/"), "an identifier is not one path component")
        _ = stream.kind
    }
}

@Sendable func readAssetList(_ bytes: [UInt8]) {
    let base = ResourceAddress("https://origin.example/list.json")
    guard let assets = try? AssetListParser.assets(bytes, at: base) else { return }
    check(assets.count <= 100, "more assets than the limit")
    for asset in assets {
        check(asset.address.isAbsolute, "an address is not resolved")
        if let duration = asset.duration {
            check(duration >= .zero, "a duration is negative")
            check(!duration.description.isEmpty && duration.duration >= .zero, "a duration has no description")
        }
    }
}

@Sendable func readQuery(_ bytes: [UInt8]) {
    guard let path = try? RequestParsing.playbackPath(String(decoding: bytes, as: UTF8.self)) else { return }
    check(path.utf8.count <= 16 * bytes.count + 64, "an address grows")
    check(!path.utf8.contains { $0 <= 0x20 || $0 >= 0x7F }, "an address has characters that must be encoded")
    guard let mark = path.firstIndex(of: "?") else {
        check(false, "an address has no query")
        return
    }
    let again = try? RequestParsing.playbackPath(String(path[path.index(after: mark)...]))
    check(again == path, "an address reads as another request")
}

@Sendable func readRangeField(_ bytes: [UInt8]) {
    let text = String(decoding: bytes, as: UTF8.self)
    for size in [0, 1, 1_000, .max] {
        guard let range = RequestParsing.byteRange(text, size: size) else { continue }
        check(range.lowerBound >= 0 && range.upperBound < size, "a range is outside of the resource")
    }
}

@Sendable func readResponseFields(_ bytes: [UInt8]) {
    let lines = String(decoding: bytes, as: UTF8.self).split(separator: "\n", omittingEmptySubsequences: false)
    for line in lines.prefix(8) {
        let text = String(line)
        if let range = ResponseHeaderParsing.byteRange(contentRange: text) {
            check(range.start >= 0 && range.length > 0 && range.end > range.start, "a range is not valid")
        }
        for date in [nil, "Tue, 15 Nov 1994 08:12:31 GMT", String(lines[0])] {
            guard let delay = ResponseHeaderParsing.delay(retryAfter: text, date: date) else { continue }
            check(delay >= .zero && delay <= .seconds(86_400 * 365), "a delay is out of bounds")
        }
        if let field = HeaderField(line: text) {
            check(!field.name.isEmpty && !field.value.contains("\r"), "a field is not valid")
        }
    }
}

/// A transport that responds to every request with the same header fields.
private struct FieldOrigin: Transport {
    let fields: [HeaderField]
    let status: Int

    func send(_ request: TransportRequest) async throws -> TransportResponse {
        let isConditional = request.headers.contains { $0.name.lowercased().hasPrefix("if-") }
        return TransportResponse(
            status: isConditional ? 304 : status,
            headers: fields,
            address: request.address,
            expectedLength: isConditional ? 0 : 5,
            body: TransportBody(isConditional ? [] : Array("hello".utf8))
        )
    }
}

/// Caches a response whose header fields are the lines of the input, and repeats the request at other times.
@Sendable func readCachedResponses(_ bytes: [UInt8]) {
    let lines = String(decoding: bytes, as: UTF8.self).split(separator: "\n")
    let fields = lines.prefix(16).compactMap { HeaderField(line: String($0)) }
    let moments: [Int64] = [1_700_000_000, 1_700_000_010, 1_800_000_000, 0, .max, .min]
    withTemporaryFolder { folder in
        let moment = MomentSource()
        guard
            let disk = try? DiskCache(directory: folder, now: { moment.seconds })
        else {
            check(false, "a cache cannot be created")
            return
        }
        let cache = CachedTransport(FieldOrigin(fields: fields, status: 200), cache: disk)
        for seconds in moments {
            moment.set(seconds)
            wait {
                let request = TransportRequest(ResourceAddress("https://origin.example/a"), kind: .segment)
                guard let response = try? await cache.send(request) else { return }
                var size = 0
                do {
                    for try await buffer in response.body { size += buffer.readableBytes }
                } catch {
                    return
                }
                check(size == 5, "a cached body has another size")
            }
        }
    }
}

/// A clock that is set manually.
private final class MomentSource: Sendable {
    private let value = Mutex<Int64>(0)

    var seconds: UnixSeconds { UnixSeconds(value.withLock { $0 }) }

    func set(_ seconds: Int64) { value.withLock { $0 = seconds } }
}

@Sendable func readDataAddress(_ bytes: [UInt8]) {
    let text = "data:" + String(decoding: bytes, as: UTF8.self)
    let transport = SchemeTransport(http: FieldOrigin(fields: [], status: 200), file: nil)
    wait {
        for range in [nil, ByteRange(start: 0, length: 1), ByteRange(start: 1 << 40, length: 1 << 40)] {
            let request = TransportRequest(ResourceAddress(text), kind: .other, byteRange: range)
            guard let response = try? await transport.send(request) else { continue }
            var size = 0
            do {
                for try await buffer in response.body { size += buffer.readableBytes }
            } catch {
                continue
            }
            check(size <= text.utf8.count, "a data URL grows")
        }
    }
}
