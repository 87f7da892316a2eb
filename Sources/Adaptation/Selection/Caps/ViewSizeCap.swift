/// Closes rungs with more pixels than the view can show.
///
/// The smallest rung that covers the view stays open, so that nothing has to be enlarged; what is larger costs bytes and
/// shows nothing more. Rungs without a known size stay open.
public struct ViewSizeCap: LadderCap, Hashable {
    /// The view's width in pixels of the screen; 0 or less says that it is not known, and nothing is closed.
    public var width: Int
    /// The view's height in pixels of the screen.
    public var height: Int

    /// Makes a cap for a view.
    ///
    /// - Parameters:
    ///   - width: See ``width``.
    ///   - height: See ``height``.
    public init(width: Int, height: Int) {
        self.width = width
        self.height = height
    }

    /// Closes the rungs above the smallest picture that covers the view in one direction.
    ///
    /// A picture is fitted into the view, so one direction is filled and the other has bars. Rungs of the same size as
    /// that picture stay open, whatever their bit rate.
    ///
    /// - Parameters:
    ///   - restriction: What is open.
    ///   - ladder: The rungs.
    public func restrict(_ restriction: inout LadderRestriction, of ladder: Ladder) {
        guard width > 0, height > 0 else { return }
        let sizes = restriction.openRungs.compactMap { pixels(of: ladder.rungs[$0]) }
        let covering = sizes.filter { $0.width >= width || $0.height >= height }
        guard let enough = covering.min(by: { $0.area < $1.area }) else { return }
        restriction.close(because: .viewSize) { rung in
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
