package import HLSPlaylist
package import ResourceAddressing

/// The delivery directives of a request for a media playlist (RFC 8216bis §6.2.5).
package struct DeliveryDirectives: Sendable, Hashable {
    /// The elements that the server may leave out of its response (§6.2.5.1).
    package enum Skip: String, Sendable, Hashable {
        /// Older segments.
        case segments = "YES"
        /// Older segments and date ranges.
        case segmentsAndDateRanges = "v2"
    }

    /// The media sequence number of the segment that the response has to contain (§6.2.5.2); `nil` for an immediate
    /// response.
    package var mediaSequence: Int64?
    /// The index of the partial segment within that segment, starting at 0; `nil` for the whole segment.
    ///
    /// It has no effect without ``mediaSequence``.
    package var part: Int64?
    /// The elements that may be left out; `nil` for none.
    package var skip: Skip?

    /// A request without directives.
    package static let none = DeliveryDirectives()

    /// Creates directives.
    package init(mediaSequence: Int64? = nil, part: Int64? = nil, skip: Skip? = nil) {
        self.mediaSequence = mediaSequence
        self.part = part
        self.skip = skip
    }

    /// A Boolean value that indicates whether the server holds the request until the requested segment is available.
    package var isBlocking: Bool { mediaSequence != nil }

    /// Returns the URL with the directives as query parameters.
    ///
    /// The URL is otherwise unchanged. The directives follow its own query in alphabetical order, so that all clients
    /// of a cache use the same URL (§6.2.5). Existing directives, which a redirection may have preserved, are removed.
    package func applied(to address: ResourceAddress) -> ResourceAddress {
        let bytes = Array(address.text.utf8)
        let hash = bytes.firstIndex(of: UInt8(ascii: "#")) ?? bytes.endIndex
        let mark = bytes[..<hash].firstIndex(of: UInt8(ascii: "?"))
        var items =
            mark.map { mark in
                bytes[(mark + 1)..<hash].split(separator: UInt8(ascii: "&"), omittingEmptySubsequences: false)
            } ?? []
        items.removeAll { item in Self.names.contains { item.starts(with: $0) } }
        items += parameters.map { ArraySlice(Array($0.utf8)) }
        var result = Array(bytes[..<(mark ?? hash)])
        if !items.isEmpty { result += [UInt8(ascii: "?")] + items.joined(separator: [UInt8(ascii: "&")]) }
        return ResourceAddress(String(decoding: result + bytes[hash...], as: UTF8.self))
    }

    private static let names = ["_HLS_msn=", "_HLS_part=", "_HLS_skip="].map { Array($0.utf8) }

    /// The query parameters in alphabetical order.
    private var parameters: [String] {
        [
            mediaSequence.map { "_HLS_msn=\($0)" },
            mediaSequence == nil ? nil : part.map { "_HLS_part=\($0)" },
            skip.map { "_HLS_skip=\($0.rawValue)" },
        ].compactMap(\.self)
    }
}

extension DeliveryDirectives {
    /// Returns the directives of the first request for another rendition, according to a rendition report (§4.4.5.4).
    ///
    /// The requested segment is already available: the response is immediate, and a cache cannot return an older one.
    ///
    /// - Parameters:
    ///   - address: The media playlist of the other rendition.
    ///   - playlist: A media playlist of the same server that was just loaded.
    ///   - isLowLatency: Whether partial segments are loaded.
    /// - Returns: The directives, or ``none`` if the server does not support blocking reloads or reports nothing on the
    ///   rendition.
    package static func firstRequest(
        for address: ResourceAddress,
        reportedBy playlist: MediaPlaylist,
        isLowLatency: Bool
    ) -> DeliveryDirectives {
        guard playlist.serverControl?.canBlockReload == true, !playlist.hasEndMarker else { return .none }
        let reports = playlist.renditionReports
        func position(_ address: ResourceAddress) -> Substring {
            address.text.prefix { $0 != "?" && $0 != "#" }
        }
        let report =
            reports.first { $0.address == address } ?? reports.first { position($0.address) == position(address) }
        guard let report, let sequence = report.lastMediaSequence else { return .none }
        return DeliveryDirectives(mediaSequence: sequence, part: isLowLatency ? report.lastPart : nil)
    }
}
