/// A cap that excludes rungs with more pixels than the view can display.
///
/// The smallest rung that covers the view remains allowed, so that no video has to be enlarged. Larger rungs need more
/// bytes without a visible difference. Rungs of unknown size remain allowed.
public struct ViewSizeCap: LadderCap, Hashable {
    /// The width of the view in pixels of the screen; 0 or less if it is unknown, in which case no rung is excluded.
    public var width: Int
    /// The height of the view in pixels of the screen; 0 or less if it is unknown.
    public var height: Int

    /// Creates a cap for a view.
    ///
    /// - Parameters:
    ///   - width: See ``width``.
    ///   - height: See ``height``.
    public init(width: Int, height: Int) {
        self.width = width
        self.height = height
    }

    /// Excludes the rungs above the smallest video that covers the view in one dimension.
    ///
    /// The video is scaled to fit into the view, so that one dimension is filled and the other may have black bars.
    /// Rungs of the same size as the smallest covering video remain allowed at any bit rate.
    ///
    /// - Parameters:
    ///   - restriction: The restriction to narrow.
    ///   - ladder: The ladder of the restriction.
    public func restrict(_ restriction: inout LadderRestriction, of ladder: Ladder) {
        guard width > 0, height > 0 else { return }
        let sizes = restriction.allowedRungs.compactMap { pixels(of: ladder.rungs[$0]) }
        let covering = sizes.filter { $0.width >= width || $0.height >= height }
        guard let enough = covering.min(by: { $0.area < $1.area }) else { return }
        restriction.exclude(because: .viewSize) { rung in
            guard let size = pixels(of: ladder.rungs[rung]) else { return false }
            return size.area > enough.area
        }
    }

    private struct Pixels {
        let width: Int
        let height: Int
        var area: Double { Double(width) * Double(height) }
    }

    private func pixels(of rung: LadderRung) -> Pixels? {
        guard let width = rung.width, let height = rung.height, width > 0, height > 0 else { return nil }
        return Pixels(width: width, height: height)
    }
}
