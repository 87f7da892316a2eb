import StreamingEngine

/// A reader of the seeds of the demultiplexers, for tests of the seeds: one that cannot be read tests nothing.
package enum SeedReading {
    /// Returns the number of samples of a segment.
    ///
    /// - Parameter bytes: The segment, whose samples may be encrypted individually.
    /// - Returns: The number of samples of all tracks; 0 if the segment cannot be read.
    package static func sampleCount(of bytes: [UInt8]) -> Int {
        var demultiplexer = CheckedDemultiplexer()
        let protection = PipelineSegment.SampleProtection(
            method: "SAMPLE-AES",
            key: [UInt8](repeating: 1, count: 16),
            initializationVector: [UInt8](repeating: 7, count: 16)
        )
        let summary = demultiplexer.read(bytes, protection: protection)
        return summary?.tracks.reduce(0) { $0 + $1.sampleCount } ?? 0
    }
}
