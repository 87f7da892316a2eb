import SegmentFormat

// Initializers that parse arrays, because a span does not outlive the expression of a macro such as `#expect`.

extension Movie {
    init(reading bytes: [UInt8], at offset: Int = 0) throws { try self.init(bytes.span, at: offset) }
}

extension MovieFragment {
    init(reading bytes: [UInt8], fileOffset: Int64 = 0, movie: Movie? = nil) throws {
        try self.init(bytes.span, fileOffset: fileOffset, movie: movie)
    }
}

extension SegmentIndex {
    init(reading bytes: [UInt8], fileOffset: Int64 = 0) throws { try self.init(bytes.span, fileOffset: fileOffset) }
}

extension EventMessage {
    init(reading bytes: [UInt8]) throws { try self.init(bytes.span) }
}

extension FragmentedSegment {
    init(reading bytes: [UInt8], movie: Movie? = nil) { self.init(bytes.span, movie: movie) }
}

extension PackedAudioSummary {
    init?(reading bytes: [UInt8]) { self.init(bytes.span) }
}

extension AudioFrameHeader {
    init?(reading bytes: [UInt8]) { self.init(bytes.span) }
}

extension ID3Tag {
    init?(reading bytes: [UInt8]) { self.init(bytes.span) }
}

extension TransportStreamSummary {
    init?(reading bytes: [UInt8], near reference: Int64? = nil, programs: [TransportProgram] = []) {
        self.init(bytes.span, near: reference, programs: programs)
    }
}

extension BoxHeader {
    init?(reading bytes: [UInt8]) { self.init(bytes.span, at: 0) }
}

extension TransportPacketLayout {
    init?(reading bytes: [UInt8]) { self.init(bytes.span) }
}

extension MediaContainer {
    init?(reading bytes: [UInt8]) { self.init(bytes.span) }
}
