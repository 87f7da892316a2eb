package import HLSPlaylist
package import ResourceAddressing

/// What a request for a media playlist asks of the server (RFC 8216bis §6.2.5).
package struct DeliveryDirectives: Sendable, Hashable {
    /// What the server may leave out of its answer (§6.2.5.1).
    package enum Skip: String, Sendable, Hashable {
        /// Older segments.
        case segments = "YES"
        /// Older segments and date ranges.
        case segmentsAndDateRanges = "v2"
    }

    /// The segment that has to be there before the server answers (§6.2.5.2); `nil` for an answer at once.
    package var mediaSequence: Int64?
    /// The part of that segment, from 0; `nil` for the whole segment.
    ///
    /// It has no meaning without ``mediaSequence``.
    package var part: Int64?
    /// What may be left out; `nil` for nothing.
    package var skip: Skip?

    /// A plain request.
    package static let none = DeliveryDirectives()

    /// Makes directives.
    package init(mediaSequence: Int64? = nil, part: Int64? = nil, skip: Skip? = nil) {
        self.mediaSequence = mediaSequence
        self.part = part
        self.skip = skip
    }

    /// Whether the server holds the request until what is asked for is there.
    package var isBlocking: Bool { mediaSequence != nil }

    /// The address to ask with.
    ///
    /// The address keeps its bytes; the directives come behind its own query, in the order of their names, so that all
    /// clients of a cache ask with the same address (§6.2.5). Directives that it has already, because it was asked with
    /// some and redirected, are taken away.
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

    /// In the order of their names.
    private var parameters: [String] {
        [
            mediaSequence.map { "_HLS_msn=\($0)" },
            mediaSequence == nil ? nil : part.map { "_HLS_part=\($0)" },
            skip.map { "_HLS_skip=\($0.rawValue)" },
        ].compactMap(\.self)
    }
}

extension DeliveryDirectives {
    /// The first request for another rendition, when this playlist reports how far that one is (§4.4.5.4).
    ///
    /// What is asked for is there already: the answer comes at once, and a cache cannot give an older one.
    ///
    /// - Parameters:
    ///   - address: The other rendition's media playlist.
    ///   - playlist: A media playlist of the same server that was just loaded.
    ///   - isLowLatency: Whether parts are loaded.
    /// - Returns: ``none`` where the server cannot hold requests, or does not report on the rendition.
    package static func firstRequest(
        for address: ResourceAddress,
        reportedBy playlist: MediaPlaylist,
        isLowLatency: Bool
    ) -> DeliveryDirectives {
        guard playlist.serverControl?.canBlockReload == true, !playlist.hasEndMarker else { return .none }
        let reports = playlist.renditionReports
        func place(_ address: ResourceAddress) -> Substring {
            address.text.prefix { $0 != "?" && $0 != "#" }
        }
        let report =
            reports.first { $0.address == address } ?? reports.first { place($0.address) == place(address) }
        guard let report, let sequence = report.lastMediaSequence else { return .none }
        return DeliveryDirectives(mediaSequence: sequence, part: isLowLatency ? report.lastPart : nil)
    }
}
