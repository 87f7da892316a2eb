/// A converter of segments to movie fragments, the form that Media Source Extensions of browsers take.
package protocol SegmentRepackager: Sendable {
    /// Converts a segment without decoding and encoding its media; it blocks the thread until it is done.
    ///
    /// - Parameter segment: A segment in any container format that the player reads.
    /// - Returns: An initialization section with a movie fragment, whose timestamps are those of the segment.
    /// - Throws: An error with a description if the media cannot be read or has no such form.
    func movieFragment(of segment: PipelineSegment) throws -> [UInt8]
}
