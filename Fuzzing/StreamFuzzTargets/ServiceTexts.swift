import AssetStorage
import Foundation
import FuzzTargets
import MediaTiming
import MediaTransport
import MillstreamServer
import ResourceAddressing
import StreamingEngine

/// Reads an image; the second half of the input is appended to it repeatedly, because images exceed the length of inputs.
@Sendable func readArtwork(_ bytes: [UInt8]) {
    let end = bytes.suffix(bytes.count / 2)
    var sizes: Set<ImageDimensions> = []
    for count in [0, 1, 100] {
        let image = Data(bytes + repeatElement(end, count: count).joined())
        guard let artwork = try? AssetArtwork(image) else { continue }
        check(artwork.data == image, "the image differs from its bytes")
        check(AssetArtwork.Format(of: image) == artwork.format, "an image has two formats")
        check(artwork.fileName == "cover.\(artwork.format.fileExtension)", "the name of the file is not valid")
        check(artwork.format.contentType.hasPrefix("image/"), "the type of an image is not valid")
        check(image.count <= AssetArtwork.maximumSize.bytes, "an image is larger than allowed")
        guard let size = ImageDimensions(of: image, format: artwork.format) else {
            return check(false, "an image has no size")
        }
        check(size.width >= 1 && size.height >= 1, "an image is empty")
        check(size.width <= Int(UInt32.max) && size.height <= Int(UInt32.max), "a size exceeds its field")
        sizes.insert(size)
    }
    check(sizes.count <= 1, "the size of an image depends on its data")
}

@Sendable func readToken(_ bytes: [UInt8]) {
    for address in ["https://origin.example/a/b.ts?c=d#e", "https://origin.example", "http://[::1]:8080/"] {
        guard let token = try? AccessToken(response: bytes, for: ResourceAddress(address)) else { continue }
        switch token.signature {
        case .url(let url):
            check(url.isHTTP, "a signed address is not an HTTP address")
            check(token.prefix == nil, "the token of one address is valid for others")
        case .query(let query):
            check(
                !query.utf8.contains { $0 <= 0x20 || $0 == 0x7F || $0 == UInt8(ascii: "#") },
                "a query has characters that must be encoded"
            )
        case nil: break
        }
        for field in token.headers {
            check(!field.name.isEmpty, "a header field has no name")
            check(!field.value.contains("\r") && !field.value.contains("\n"), "a header field has several lines")
        }
    }
}

@Sendable func readSteeringManifest(_ bytes: [UInt8]) {
    let address = ResourceAddress("https://origin.example/steering.json")
    guard let manifest = try? SteeringManifest(parsing: bytes, at: address) else { return }
    check(!manifest.pathwayPriority.isEmpty, "no pathway is preferred")
    check(manifest.pathwayPriority.count <= SteeringManifest.maximumPathwayCount, "more pathways than the limit")
    check(Set(manifest.pathwayPriority).count == manifest.pathwayPriority.count, "a pathway is repeated")
    check(
        manifest.timeToLive >= .seconds(5) && manifest.timeToLive <= .seconds(86_400),
        "a manifest has no valid time to live"
    )
    if let next = manifest.reloadAddress { check(next.isHTTP, "the next manifest is not at an HTTP address") }
    check(manifest.clones.count <= SteeringManifest.maximumCloneCount, "more pathway clones than the limit")
    for clone in manifest.clones { checkClone(clone) }
}

private func checkClone(_ clone: PathwayClone) {
    check(!clone.baseID.isEmpty && !clone.id.isEmpty, "a pathway has no identifier")
    check(
        clone.id.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F && !"\",".utf8.contains($0) },
        "an identifier cannot be written into a playlist"
    )
    check(clone.parameters.count <= PathwayClone.maximumParameterCount, "more parameters than the limit")
    check(clone.parameters.allSatisfy { !$0.name.isEmpty }, "a parameter has no name")
    let addresses = Array(clone.variantAddresses.values) + Array(clone.renditionAddresses.values)
    check(addresses.allSatisfy(\.isHTTP), "a playlist is not at an HTTP address")
    for text in ["https://user:password@origin.example:8443/a/b.m3u8?c=d#e", "http://[::1]/v.m3u8"] {
        let address = ResourceAddress(text)
        let moved = clone.replaced(address)
        check(moved.isHTTP && moved.normalizedScheme == address.normalizedScheme, "a URL is not an HTTP URL")
        check(moved.path == address.path && moved.fragment == address.fragment, "a clone changes a path")
        check(clone.replaced(moved) == moved, "a clone changes its own URL")
    }
}

@Sendable func readFault(_ bytes: [UInt8]) {
    let text = String(decoding: bytes, as: UTF8.self)
    do {
        let fault = try ResponseFault(parsing: text)
        check(ResponseFault(fault.text) == fault, "the text of a fault reads as another fault")
        checkFault(fault)
    } catch {
        check(error.sentence(about: text).count <= 2_000, "a message has no limit")
    }
}

/// Checks that the values of a fault are within their limits.
func checkFault(_ fault: ResponseFault) {
    check(fault.text.utf8.count <= ResponseFault.maximumLength, "a fault is longer than the limit")
    check(
        !fault.path.isEmpty && fault.path.utf8.count <= ResponseFault.maximumPatternLength,
        "a pattern is longer than the limit"
    )
    check(fault.concerns(fault.path), "a pattern does not match itself")
    if !fault.path.utf8.contains(UInt8(ascii: "*")) {
        check(!fault.concerns("\(fault.path)/"), "a pattern without a wildcard matches another path")
    }
    if case .status(let status)? = fault.replacement {
        check((400...599).contains(status), "a status is not that of an error")
    }
    check(
        fault.delay >= .zero && fault.delay <= .seconds(ResponseFault.maximumDelay),
        "a delay is longer than the limit"
    )
    check(fault.rate.map { $0.bitsPerSecond >= 8 } ?? true, "a rate sends no byte in a second")
    check((fault.damageStart ?? 0) >= 0 && (fault.end?.bytes ?? 0) >= 0, "a position is negative")
    if fault.isTimeout {
        check(
            fault.replacement == nil && fault.end == nil && fault.damageStart == nil && fault.rate == nil
                && fault.delay == .zero,
            "a fault has effects that exclude each other"
        )
    }
}
