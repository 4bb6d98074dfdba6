// Answers without a network: what a test's variable `say` holds; fails where it is "fail".
class Fixed {
  constructor(options) {
    this.config = options.config || {};
  }
  id() {
    return 'org:tiny';
  }
  async callApi(prompt, context) {
    const say = context.vars.say;
    if (say === 'fail') {
      return { error: 'the model is out' };
    }
    return {
      output: say,
      cost: 0.125,
      cached: false,
      finishReason: 'stop',
      isRefusal: say === 'No.',
      tokenUsage: { total: 49, prompt: 42, completion: 7, numRequests: 1 },
    };
  }
}
module.exports = Fixed;
