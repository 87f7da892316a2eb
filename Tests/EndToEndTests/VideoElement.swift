/// The video element of the console.
struct VideoElement {
    let page: Page

    var currentTime: Double {
        get async throws { try await page.number("document.querySelector('#video').currentTime") }
    }
    var duration: Double {
        get async throws { try await page.number("document.querySelector('#video').duration || 0") }
    }

    /// Waits until the video plays and its frames advance.
    func waitUntilPlaying() async throws {
        try await eventually("the video plays", within: .seconds(60)) {
            try await page.isTrue(
                "(v => !v.paused && v.readyState >= 3 && v.currentTime > 0.2)(document.querySelector('#video'))"
            )
        }
        let first = try await page.number("document.querySelector('#video').getVideoPlaybackQuality().totalVideoFrames")
        try await eventually("frames advance") {
            try await page.number("document.querySelector('#video').getVideoPlaybackQuality().totalVideoFrames") > first
                + 10
        }
    }

    /// The values that are encoded in the strip at the top of each frame.
    struct Strip: Equatable {
        let frame: Int
        let variant: Int
    }

    /// Seeks to a time, and reads the strip of the displayed frame.
    ///
    /// - Throws: ``Chromium/Failure`` if the strip cannot be read or its parity is wrong.
    func strip(at time: Double) async throws -> Strip {
        let text = try await page.text(
            """
            (async () => {
              const video = document.querySelector('#video')
              video.pause()
              // Frames of before the seek may still be presented after it was asked for.
              const shown = new Promise((resolve, fail) => {
                let latest = 'none'
                setTimeout(() => fail(new Error('no frame at \(time), the last was at ' + latest)), 20000)
                const check = (_, { mediaTime }) => {
                  latest = mediaTime
                  if (Math.abs(mediaTime - \(time)) < 1) resolve()
                  else video.requestVideoFrameCallback(check)
                }
                video.requestVideoFrameCallback(check)
              })
              video.currentTime = \(time)
              await shown
              await new Promise(resolve => setTimeout(resolve, 150))
              return readStrip(video)
              function readStrip(video) {
                const canvas = document.createElement('canvas')
                canvas.width = video.videoWidth
                canvas.height = video.videoHeight
                const context = canvas.getContext('2d')
                context.drawImage(video, 0, 0)
                const cells = []
                for (let cell = 0; cell < 20; cell++) {
                  const x = Math.round((cell + 0.5) * canvas.width / 20)
                  const y = Math.round(canvas.height / 24)
                  const [r, g, b] = context.getImageData(x, y, 1, 1).data
                  cells.push(r + g + b > 384 ? 1 : 0)
                }
                const ones = cells.slice(2, 19).reduce((a, b) => a + b, 0)
                if (cells[0] !== 1 || cells[1] !== 0 || ones % 2 !== cells[19]) throw new Error('unreadable strip ' + cells.join(''))
                const value = bits => bits.reduce((a, b) => a * 2 + b, 0)
                return value(cells.slice(2, 16)) + ' ' + value(cells.slice(16, 19))
              }
            })()
            """
        )
        let numbers = text.split(separator: " ").compactMap { Int($0) }
        guard numbers.count == 2 else { throw Chromium.Failure(description: "no strip: \(text)") }
        return Strip(frame: numbers[0], variant: numbers[1])
    }
}
