import MediaDecoding
import Testing

@testable import MediaOutput

@Suite struct VideoGeometryTests {
    @Test(arguments: [
        (PixelSize(640, 360), PixelSize(1280, 720), PixelRect(x: 0, y: 0, width: 1280, height: 720)),
        (PixelSize(640, 480), PixelSize(1280, 720), PixelRect(x: 160, y: 0, width: 960, height: 720)),
        (PixelSize(1920, 800), PixelSize(1280, 720), PixelRect(x: 0, y: 93, width: 1280, height: 533)),
        (PixelSize(1080, 1920), PixelSize(1280, 720), PixelRect(x: 437, y: 0, width: 405, height: 720)),
        (PixelSize(1, 10_000), PixelSize(100, 100), PixelRect(x: 49, y: 0, width: 1, height: 100)),
        (PixelSize(0, 0), PixelSize(100, 50), PixelRect(x: 0, y: 0, width: 100, height: 50)),
        (PixelSize(10, 10), PixelSize(0, 0), PixelRect(x: 0, y: 0, width: 0, height: 0)),
    ])
    func videoFitsTheWindowWithItsAspectRatio(videoSize: PixelSize, window: PixelSize, expected: PixelRect) {
        #expect(VideoGeometry.fit(videoSize, in: window) == expected)
    }

    @Test(arguments: [
        (720, 576, 64, 45, 1024), (720, 480, 8, 9, 640), (1440, 1080, 4, 3, 1920), (640, 360, 1, 1, 640),
        (640, 360, 0, 1, 640), (640, 360, 1, 0, 640), (640, 360, Int.max, 1, 640), (640, 360, -4, 3, 640),
    ])
    func displaySizeDependsOnThePixelAspectRatio(width: Int, height: Int, across: Int, down: Int, expected: Int) {
        let aspect = PixelAspectRatio(horizontal: across, vertical: down)
        let size = VideoGeometry.displaySize(width: width, height: height, aspect)
        #expect(size == PixelSize(expected, height))
    }
}
